package proptest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/internal/simapi"
)

// listChange is one change of the list.
type listChange struct {
	kind  string
	which int // of the items, counted modulo their number
	at    int
	age   time.Duration // of an item that is inserted
}

func (m *machine) drawChange(t *rapid.T) listChange {
	c := listChange{kind: rapid.SampledFrom([]string{"insert", "insert", "delete", "update", "move", "copy"}).Draw(t, "change")}
	if c.kind == "insert" {
		return m.drawInsertion(t)
	}
	c.which, c.at = rapid.IntRange(0, 7).Draw(t, "which item"), rapid.IntRange(0, 8).Draw(t, "at")
	return c
}

func (m *machine) drawInsertion(t *rapid.T) listChange {
	ages := []time.Duration{0, 0, time.Hour, -time.Nanosecond, -time.Hour, 48 * time.Hour}
	return listChange{kind: "insert", at: rapid.IntRange(0, 8).Draw(t, "at"), age: rapid.SampledFrom(ages).Draw(t, "age")}
}

// names are IDs that a careless key or record would mix up.
func names() []string {
	return []string{"a", "A", "a|remind", "ä", "a b", "\x00", "a/../a", "%61", "0", "00", "\"", "{\"id\":1}"}
}

// apply makes a change. The caller holds the lock.
func (m *machine) apply(c listChange) {
	w := m.w
	items := w.list.Items()
	if c.kind == "insert" {
		w.ids++
		id := fmt.Sprintf("i%d", w.ids)
		if odd := names(); w.ids%3 == 0 && w.ids/3 <= len(odd) {
			id = odd[w.ids/3-1]
		}
		w.created[id] = now().Add(-c.age)
		w.note("list: insert %q at %d, created %s ago", id, c.at, c.age)
		w.list.Insert(c.at, simapi.Item{ID: id, CreatedAt: w.created[id], Subject: "as made"})
	} else if len(items) > 0 {
		item := items[c.which%len(items)]
		w.note("list: %s %q (to %d)", c.kind, item.ID, c.at)
		switch c.kind {
		case "delete":
			w.list.Delete(item.ID)
		case "update":
			item.Subject += "!"
			w.list.Replace(item)
		case "move":
			w.list.Move(item.ID, c.at)
		case "copy":
			w.list.Duplicate(item.ID, c.at)
		}
	}
	w.count("list: " + c.kind)
}

func (m *machine) edit(c listChange) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.apply(c)
}

// change changes the list between two processes.
func (m *machine) change(t *rapid.T) { m.edit(m.drawChange(t)) }

// expire makes the API forget the cursors that it gave out.
func (m *machine) expire(t *rapid.T) {
	if !sometimes(t, 4, "expire") {
		return
	}
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.note("the cursors expire")
	m.w.count("api: expire")
	m.w.api.generation++
}

// wait lets time pass.
func (m *machine) wait(t *rapid.T) {
	w := m.w
	d := time.Duration(rapid.SampledFrom([]int{1, 60, 3600, 90000}).Draw(t, "seconds")) * time.Second
	w.mu.Lock()
	w.note("%s pass", d)
	w.mu.Unlock()
	if !w.shape.Pebble {
		time.Sleep(d) //nolint:forbidigo // in a bubble, of its fake time
		return
	}
	// Pebble looks ten times a second for something to compact, of fake seconds too.
	if err := w.ledger.store.Close(); err != nil {
		m.fail(t, err)
	}
	time.Sleep(d) //nolint:forbidigo // in a bubble, of its fake time
	if err := w.open(); err != nil {
		m.fail(t, err)
	}
}
