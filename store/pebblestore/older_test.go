package pebblestore

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// putOlder writes what builds wrote before items had places and runs a progress: a
// run with its record alone, and items under their whole IDs.
func putOlder(t *testing.T, s *Store, run *store.Run, items []store.Item) {
	t.Helper()
	batch := s.database.NewBatch()
	set := func(key, value []byte) {
		t.Helper()
		if err := batch.Set(key, value, nil); err != nil {
			t.Fatal(err)
		}
	}
	r := &run.Receipt
	record, err := store.AppendRun([]byte{1, 1, 0}, run) // the header's version, the number, the events
	if err != nil {
		t.Fatal(err)
	}
	set(runKey(r.RunID), record)
	set(begunKey(1), []byte(r.RunID))
	set(numberKey(keyJob, r.Job, newestFirst(1)), []byte(r.RunID))
	set(numberKey(keyStatus, string(r.Status), newestFirst(1)), []byte(r.RunID))
	for i := range items {
		set(textKey(keyItem, items[i].Scope, items[i].ID), store.AppendItem(nil, &items[i]))
		if items[i].State == store.StateHeld {
			set(textKey(keyHeld, items[i].Scope, items[i].ID), nil)
		}
	}
	set(pageKey(r.RunID, 0, 0), []byte("\x01\x01\x00\x00\x00\x04e=no\x02\x01a\x02bc\x08sha256:1\x00\x00\x00\x00\x00\x90\x03\x03req\x08sha256:2"))
	if err := batch.Commit(pebble.Sync); err != nil {
		t.Fatal(err)
	}
}

func reopened(t *testing.T, s *Store, opts *Options) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open("ledger", opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A ledger of an older build is read, and gone on with.
func TestALedgerOfAnOlderBuildGoesOn(t *testing.T) {
	opts := &Options{FS: vfs.NewMem()}
	s, err := Open("ledger", opts)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_800_000_000, 7).UTC()
	run := store.Run{Receipt: state.Receipt{RunID: "r", Job: "job", Status: state.Running, ProcessedUnique: 1, PendingCount: 2}, Scope: "r", Lineage: "r", Fetching: -1, Careful: -1}
	items := []store.Item{
		{Scope: "r", ID: "done", State: store.StateDone, RunID: "r", SettledBy: "r", Attempts: 2, UpdatedAt: at},
		{Scope: "r", ID: "held", State: store.StateHeld, RunID: "r", Ordinal: 1, Code: "attempts_exhausted", Payload: []byte("{}"), UpdatedAt: at},
		{Scope: "r", ID: "pending", State: store.StatePending, RunID: "r", Ordinal: 2, UpdatedAt: at},
	}
	putOlder(t, s, &run, items)
	s = reopened(t, s, opts)
	wantOlder(t, s, run, items)
	held := 0
	for item, err := range s.Held(t.Context(), "r") {
		if err != nil || !reflect.DeepEqual(item, items[1]) {
			t.Fatalf("held: %+v, %v", item, err)
		}
		held++
	}
	if held != 1 {
		t.Fatalf("%d items are held", held)
	}
	for page, err := range s.Pages(t.Context(), "r", 0) {
		if err != nil || !reflect.DeepEqual(page.IDs, []string{"a", "bc"}) || page.Digest != "sha256:2" {
			t.Fatalf("page: %+v, %v", page, err)
		}
	}

	// Each item is settled, and a page with a new one follows.
	for i := range items[1:] {
		items[1+i] = store.Item{Scope: "r", ID: items[1+i].ID, State: store.StateDone, RunID: "r", Ordinal: 1 + i, SettledBy: "r", Attempts: 1, UpdatedAt: at.Add(time.Second)}
	}
	fresh := store.Item{Scope: "r", ID: "a new one with a long ID", State: store.StatePending, RunID: "r", Page: 1, UpdatedAt: at}
	run.Receipt.ProcessedUnique, run.Receipt.PendingCount = 3, 1
	change := store.Change{Run: run, Items: append(items[1:3:3], fresh), Page: &store.Page{RunID: "r", Index: 1, IDs: []string{fresh.ID}, At: at}}
	if err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	s = reopened(t, s, opts)
	wantOlder(t, s, run, append(items, fresh))
	for item, err := range s.Held(t.Context(), "r") {
		t.Errorf("%+v, %v is held still", item, err)
	}
	if err := s.get(runKey("r"), func(value []byte) error {
		if value[0] < 2 {
			t.Error("an older build would read the run without its progress")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantOlder(t *testing.T, s *Store, run store.Run, items []store.Item) {
	t.Helper()
	got, err := s.Run(t.Context(), "r")
	if err != nil || !reflect.DeepEqual(got, run) {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, run)
	}
	ids := []string{"never met", "never met, and longer than a key"}
	want := []store.Item{{Scope: "r", ID: ids[0]}, {Scope: "r", ID: ids[1]}}
	for _, item := range items {
		ids, want = append(ids, item.ID), append(want, item)
	}
	found, err := s.Items(t.Context(), "r", ids)
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Fatalf("got %+v, %v\nwant %+v", found, err, want)
	}
}

// A version that this build does not know is said to be one.
func TestAVersionOfTomorrowIsAnError(t *testing.T) {
	c := &scope{number: 3}
	c.salt[0] = 1
	page := &sheet{runID: "r", page: 2, at: time.Unix(1, 2).UTC(), done: make([]time.Time, 3)}
	page.done[1] = time.Unix(5, 6).UTC()
	header := runHeader{seq: 1}.append(nil)
	for name, try := range map[string]struct {
		record []byte
		decode func([]byte) error
	}{
		"scope":      {c.append(nil), func(b []byte) error { _, err := decodeScope(b); return err }},
		"sheet":      {page.append(nil), func(b []byte) error { _, err := decodeSheet(b); return err }},
		"run header": {header, func(b []byte) error { _, _, err := cutRunHeader(b); return err }},
	} {
		if err := try.decode(try.record); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for cut := range len(try.record) {
			if err := try.decode(try.record[:cut]); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: %d of %d bytes gave %v, want store.ErrCorrupt", name, cut, len(try.record), err)
			}
		}
		try.record[0] = 0xff
		if err := try.decode(try.record); !errors.Is(err, store.ErrVersion) {
			t.Errorf("%s: got %v, want store.ErrVersion", name, err)
		}
	}
	if got, err := decodeSheet(page.append(nil)); err != nil || !reflect.DeepEqual(got, page) {
		t.Errorf("got %+v, %v, want %+v", got, err, page)
	}
}

func FuzzDecodeSheet(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 0, 0xff, 0xff, 0x03})
	f.Add((&sheet{runID: "r", page: 2, at: time.Unix(1, 2), done: []time.Time{{}, time.Unix(3, 4)}}).append(nil))
	f.Fuzz(func(t *testing.T, record []byte) {
		page, err := decodeSheet(record)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrVersion) {
				t.Fatalf("error %v wraps neither store.ErrCorrupt nor store.ErrVersion", err)
			}
			return
		}
		if page.page < 0 { // a page that nobody could commit
			return
		}
		if _, err := decodeSheet(page.append(nil)); err != nil {
			t.Fatalf("second round: %v", err)
		}
	})
}

func TestItemValues(t *testing.T) {
	for _, want := range []place{{run: 1}, {run: 300, page: 100_000, ordinal: 99}} {
		value := want.append(nil)
		got, own, err := decodeItemValue(value)
		if err != nil || own != nil || got != want {
			t.Errorf("got %+v, %q, %v, want %+v", got, own, err, want)
		}
		for cut := range value {
			if _, _, err := decodeItemValue(value[:cut]); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes gave %v", cut, err)
			}
		}
	}
	if _, own, err := decodeItemValue(binary.AppendUvarint(nil, 0)); err != nil || own == nil || len(own) != 0 {
		t.Errorf("an empty record of its own: %q, %v", own, err)
	}
}
