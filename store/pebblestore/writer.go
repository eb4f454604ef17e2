package pebblestore

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/store"
)

const (
	// groupChanges and groupBytes bound what shares one sync, so that a group
	// stays well below a memtable.
	groupChanges = 512
	groupBytes   = 1 << 20
	// cacheEntries bounds what the writer remembers; past it, it starts over.
	cacheEntries = 1024
)

// writer is the one goroutine that writes. It takes whatever waits, writes it
// with one sync and answers everyone; it never waits for a group to fill.
type writer struct {
	queue chan *prepared
	done  chan struct{}

	// What follows belongs to the goroutine.
	next uint64               // the number of the next run that begins
	runs map[string]runEntry  // what the ledger says about runs
	held map[string]heldScope // which scopes have held items
	// sheets have items that are placed and pending.
	sheets    []*openSheet
	spare     *openSheet   // room for the next one
	seed      maphash.Seed // of hashes that are never written
	nextScope uint64
	// wrote says that something was committed. Close reads it after the end of
	// the goroutine.
	wrote bool
}

// heldScope says whether a scope may have held items. Most have none, and then
// settling an item needs no look.
type heldScope bool

func (s *Store) startWriter(next, nextScope uint64) {
	s.writer = writer{
		queue: make(chan *prepared, groupChanges),
		done:  make(chan struct{}),
		next:  next,
		runs:  make(map[string]runEntry),
		held:  make(map[string]heldScope),

		nextScope: nextScope,
		seed:      maphash.MakeSeed(),
	}
	go s.write()
}

func (s *Store) write() {
	defer close(s.writer.done)
	for first := range s.writer.queue {
		s.commitGroup(s.collect(first))
	}
}

// collect takes what waits behind the first change.
func (s *Store) collect(first *prepared) []*prepared {
	group := []*prepared{first}
	size := first.batch.Len()
	for len(group) < groupChanges && size < groupBytes {
		select {
		case p, ok := <-s.writer.queue:
			if !ok {
				return group
			}
			group = append(group, p)
			size += p.batch.Len()
		default:
			return group
		}
	}
	return group
}

// group is a batch under construction, with what it will change in what the
// writer remembers.
type group struct {
	batch   *pebble.Batch
	next    uint64
	runs    map[string]runEntry
	held    map[string]bool // by key: the place in the hold queue after the group
	scopes  map[string]heldScope
	members []*prepared

	nextScope uint64
	newScopes map[string]*scope
	// completes says that a run becomes complete.
	completes bool
}

func (s *Store) commitGroup(changes []*prepared) {
	g := &group{
		next:   s.writer.next,
		runs:   make(map[string]runEntry),
		held:   make(map[string]bool),
		scopes: make(map[string]heldScope),

		nextScope: s.writer.nextScope,
		newScopes: make(map[string]*scope),
	}
	for _, p := range changes {
		if err := s.add(g, p); err != nil {
			if s.disk.hasFailed() {
				return // a batch that does not take a record is no longer sound
			}
			s.reuse(p)
			p.answer <- errors.Join(err, p.batch.Close())
			continue
		}
		g.members = append(g.members, p)
	}
	if len(g.members) == 0 {
		return
	}
	s.writer.wrote = true
	commits, err := s.count(g.batch)
	if err != nil {
		s.disk.fail(err)
		return
	}
	err = s.database.Apply(g.batch, pebble.Sync)
	err = errors.Join(err, g.batch.Close())
	if err != nil {
		// Pebble's own answer to this is to end the process.
		s.disk.fail(err)
	}
	if s.disk.hasFailed() {
		return // the callers hear of it from the disk
	}
	if err := s.attest(g, commits); err != nil {
		s.disk.fail(err)
		return
	}
	s.remember(g)
	for _, p := range g.members {
		s.reuse(p)
		p.answer <- nil
	}
	s.tellMirror(g)
}

// attest lets the witness say that the group is durable, and makes that durable
// where the group completes a run.
func (s *Store) attest(g *group, commits uint64) error {
	if err := s.witness.note(commits); err != nil || !g.completes {
		return err
	}
	return s.witness.file.SyncData()
}

// add puts a change into the group. All that can go wrong does so before the
// first write to the batch, so that a change is in it as a whole or not at all.
func (s *Store) add(g *group, p *prepared) error {
	if p.removal != nil {
		return s.addRemoval(g, p)
	}
	entry, err := s.entry(g, p.run.run.Receipt.RunID)
	switch {
	case err != nil:
		return err
	case p.begin && entry.exists:
		return fmt.Errorf("run %q is %w", p.run.run.Receipt.RunID, store.ErrExists)
	case !p.begin && !entry.exists:
		return fmt.Errorf("run %q is %w", p.run.run.Receipt.RunID, store.ErrNotFound)
	case p.begin:
		if err := s.pruned(p.run.run.Receipt.RunID); err != nil {
			return err
		}
	}
	var other runEntry
	if p.also != nil {
		if other, err = s.entry(g, p.also.run.Receipt.RunID); err != nil {
			return err
		}
		if !other.exists {
			return fmt.Errorf("run %q is %w", p.also.run.Receipt.RunID, store.ErrNotFound)
		}
	}
	moves, err := s.moves(g, *p.items)
	if err != nil {
		return err
	}
	known, err := s.scopesOf(g, *p.items)
	if err != nil {
		return err
	}
	base, err := p.run.base(entry)
	if err != nil {
		return err
	}
	var otherBase []byte
	if p.also != nil {
		if otherBase, err = p.also.base(other); err != nil {
			return err
		}
	}

	if !entry.exists {
		entry.header.seq, entry.scope = g.next, p.run.run.Scope
		g.next++
	}
	if err := s.putItems(g, p, &entry, known); err != nil {
		return s.broken(err)
	}

	// The first change's batch becomes the group's; a change that comes alone is
	// not copied.
	if g.batch == nil {
		g.batch = p.batch
	} else if err := errors.Join(g.batch.Apply(p.batch, nil), p.batch.Close()); err != nil {
		return s.broken(err)
	}
	if err := g.place(moves); err != nil {
		return s.broken(err)
	}
	if err := g.put(&p.run, entry, base); err != nil {
		return s.broken(err)
	}
	if p.also != nil {
		if err := g.put(p.also, other, otherBase); err != nil {
			return s.broken(err)
		}
	}
	return nil
}

// broken gives the store up: a batch in memory that does not take a record holds
// half a change.
func (s *Store) broken(err error) error {
	s.disk.fail(err)
	return s.failure()
}

// heldMove is an item that comes to the hold queue or leaves it.
type heldMove struct {
	scope string
	key   string
	held  bool
}

// moves finds out which items change their place in the hold queue.
func (s *Store) moves(g *group, items []store.Item) ([]heldMove, error) {
	var moves []heldMove
	fresh := make(map[string]bool) // scopes that this change brings their first held item
	without := -1                  // an item whose scope has no held ones
	for i := range items {
		item := &items[i]
		held := item.State == store.StateHeld
		if !held && without >= 0 && items[without].Scope == item.Scope {
			continue
		}
		if !held && !fresh[item.Scope] {
			may, err := s.mayHold(g, item.Scope)
			if err != nil {
				return nil, err
			}
			if !may {
				without = i
				continue
			}
		}
		if held {
			fresh[item.Scope], without = true, -1
		}
		key := string(textKey(keyHeld, item.Scope, item.ID))
		if !held {
			is, err := s.isHeld(g, key, moves)
			if err != nil {
				return nil, err
			}
			if !is {
				continue
			}
		}
		moves = append(moves, heldMove{scope: item.Scope, key: key, held: held})
	}
	return moves, nil
}

func (s *Store) mayHold(g *group, scope string) (heldScope, error) {
	if may, ok := g.scopes[scope]; ok {
		return may, nil
	}
	if may, ok := s.writer.held[scope]; ok {
		return may, nil
	}
	prefix := partKey(keyHeld, scope)
	it, err := s.database.NewIter(bounds(prefix))
	if err != nil {
		return false, err
	}
	may := heldScope(it.First())
	if err := it.Close(); err != nil {
		return false, err
	}
	g.scopes[scope] = may
	return may, nil
}

// isHeld reports whether a key is in the hold queue, after the moves so far.
func (s *Store) isHeld(g *group, key string, moves []heldMove) (bool, error) {
	for _, move := range slices.Backward(moves) {
		if move.key == key {
			return move.held, nil
		}
	}
	if held, ok := g.held[key]; ok {
		return held, nil
	}
	_, closer, err := s.database.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

func (g *group) place(moves []heldMove) error {
	for _, move := range moves {
		g.held[move.key] = move.held
		var err error
		if move.held {
			g.scopes[move.scope] = true
			err = g.batch.Set([]byte(move.key), nil, nil)
		} else {
			err = g.batch.Delete([]byte(move.key), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remember takes over what the group made durable.
func (s *Store) remember(g *group) {
	w := &s.writer
	w.next, w.nextScope = g.next, g.nextScope
	for text, c := range g.newScopes {
		s.scopes.known.Store(text, c)
	}
	if len(w.runs)+len(g.runs) > cacheEntries {
		clear(w.runs)
	}
	if len(w.held)+len(g.scopes) > cacheEntries {
		clear(w.held)
	}
	maps.Copy(w.runs, g.runs)
	maps.Copy(w.held, g.scopes)
}

func (s *Store) tellMirror(g *group) {
	if s.mirror == nil {
		return
	}
	for _, p := range g.members {
		if p.removal != nil {
			continue // a job's newest run stays
		}
		s.mirror.changed(p.run.run.Receipt.Job, p.run.notable)
		if p.also != nil {
			s.mirror.changed(p.also.run.Receipt.Job, p.also.notable)
		}
	}
}
