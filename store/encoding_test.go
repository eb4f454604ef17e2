package store_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// anyText draws texts of any bytes, which identifiers and cursors may hold.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "\x00", "a\x00\xffb", "\xff\xfe", "<&>", "\u2028"}),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) }),
	)
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.OneOf(
		rapid.Just(time.Time{}),
		rapid.Map(rapid.Int64Range(-62135596799, 253402300799), func(s int64) time.Time { return time.Unix(s, s&0x1fffffff).UTC() }),
	)
}

func anyCursor() *rapid.Generator[pager.Cursor] {
	return rapid.OneOf(rapid.Just(pager.Cursor{}), rapid.Map(anyText(), pager.At))
}

func anyItem() *rapid.Generator[store.Item] {
	return rapid.Custom(func(t *rapid.T) store.Item {
		item := store.Item{
			Scope:      anyText().Draw(t, "scope"),
			ID:         anyText().Draw(t, "id"),
			State:      store.ItemState(rapid.Uint8Range(0, uint8(store.StateDropped)).Draw(t, "state")),
			RunID:      anyText().Draw(t, "run"),
			Page:       rapid.Int().Draw(t, "page"),
			Ordinal:    rapid.Int().Draw(t, "ordinal"),
			SettledBy:  anyText().Draw(t, "settled by"),
			Attempts:   rapid.Int().Draw(t, "attempts"),
			Intent:     rapid.Bool().Draw(t, "intent"),
			Released:   rapid.Bool().Draw(t, "released"),
			DoubtSince: anyTime().Draw(t, "doubt since"),
			UpdatedAt:  anyTime().Draw(t, "updated at"),
			Code:       pager.Code(anyText().Draw(t, "code")),
			Detail:     anyText().Draw(t, "detail"),
			Payload:    rapid.SampledFrom([][]byte{nil, {}, []byte(`{"a":1}`), {0, 0xff}}).Draw(t, "payload"),
		}
		if rapid.Bool().Draw(t, "run is scope") {
			item.RunID = item.Scope
		}
		if rapid.Bool().Draw(t, "settled by run") {
			item.SettledBy = item.RunID
		}
		return item
	})
}

func anyPage() *rapid.Generator[store.Page] {
	return rapid.Custom(func(t *rapid.T) store.Page {
		page := store.Page{
			RunID:     anyText().Draw(t, "run"),
			Index:     rapid.IntMin(0).Draw(t, "index"),
			Revision:  rapid.IntMin(0).Draw(t, "revision"),
			At:        anyTime().Draw(t, "at"),
			Cursor:    anyCursor().Draw(t, "cursor"),
			Next:      anyCursor().Draw(t, "next"),
			End:       pager.End(rapid.Uint8Range(0, uint8(pager.EndLast)).Draw(t, "end")),
			Evidence:  anyText().Draw(t, "evidence"),
			Hash:      anyText().Draw(t, "hash"),
			Skipped:   rapid.Int().Draw(t, "skipped"),
			Status:    rapid.Int().Draw(t, "status"),
			RequestID: anyText().Draw(t, "request id"),
			Digest:    anyText().Draw(t, "digest"),
		}
		// An empty list comes back nil.
		list := func(name string) []string {
			return append([]string(nil), rapid.SliceOfN(anyText(), 0, 5).Draw(t, name)...)
		}
		page.IDs, page.Problems, page.Vetoes = list("ids"), list("problems"), list("vetoes")
		page.Unidentified = append([]int(nil), rapid.SliceOfN(rapid.Int(), 0, 5).Draw(t, "unidentified")...)
		if rapid.Bool().Draw(t, "has a total") {
			total := rapid.Int64().Draw(t, "total")
			page.Total = &total
		}
		return page
	})
}

func anyRun() *rapid.Generator[store.Run] {
	return rapid.Custom(func(t *rapid.T) store.Run {
		run := store.Run{
			Receipt: state.Receipt{
				RunID:          anyText().Draw(t, "run"),
				Job:            anyText().Draw(t, "job"),
				Endpoint:       anyText().Draw(t, "endpoint"),
				CursorIn:       anyCursor().Draw(t, "cursor in"),
				CursorOut:      anyCursor().Draw(t, "cursor out"),
				FetchedIDsHash: anyText().Draw(t, "hash"),
				PendingCount:   rapid.Int64().Draw(t, "pending"),
				Status:         rapid.SampledFrom(state.Statuses()).Draw(t, "status"),
				StartedAt:      anyTime().Draw(t, "started at"),
				LateBy:         state.Duration(rapid.Int64().Draw(t, "late by")),
				Supersedes:     anyText().Draw(t, "supersedes"),
				Digest:         anyText().Draw(t, "digest"),
			},
			Scope:       anyText().Draw(t, "scope"),
			Lineage:     anyText().Draw(t, "lineage"),
			Fetching:    rapid.Int().Draw(t, "fetching"),
			ConflictSeq: rapid.Int().Draw(t, "conflicts"),
		}
		if rapid.Bool().Draw(t, "has a definition") {
			run.Definition = &store.Definition{
				Filter:     anyText().Draw(t, "filter"),
				Action:     anyText().Draw(t, "action"),
				Once:       anyText().Draw(t, "once"),
				AtMostOnce: rapid.Bool().Draw(t, "at most once"),
			}
		}
		return run
	})
}

// same compares what was decoded with what was encoded, and refuses every
// proper prefix of the record.
func same[T any](t *rapid.T, want T, record []byte, decode func([]byte) (T, error)) {
	got, err := decode(record)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %#v\nwant %#v", got, want)
	}
	cut := rapid.IntRange(0, len(record)-1).Draw(t, "cut")
	if _, err := decode(record[:cut]); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("%d of %d bytes gave %v, want store.ErrCorrupt", cut, len(record), err)
	}
	if _, err := decode(append(slices.Clip(record), 0)); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("a byte too many gave %v, want store.ErrCorrupt", err)
	}
	newer := append([]byte{}, record...)
	newer[0] = 0xff
	if _, err := decode(newer); !errors.Is(err, store.ErrVersion) {
		t.Fatalf("a newer version gave %v, want store.ErrVersion", err)
	}
}

func TestItemComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem().Draw(t, "item")
		same(t, item, store.AppendItem(nil, &item), func(b []byte) (store.Item, error) {
			return store.DecodeItem(item.Scope, item.ID, b)
		})
	})
}

func TestPageComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		page := anyPage().Draw(t, "page")
		same(t, page, store.AppendPage(nil, &page), func(b []byte) (store.Page, error) {
			return store.DecodePage(page.RunID, page.Index, page.Revision, b)
		})
	})
}

func TestCursorComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cursor := anyCursor().Draw(t, "cursor")
		got, err := store.DecodeCursor(store.AppendCursor(nil, cursor))
		if err != nil || got != cursor {
			t.Fatalf("got %v, %v, want %v", got, err, cursor)
		}
	})
}

func TestRunComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun().Draw(t, "run")
		record, err := store.AppendRun(nil, &run)
		if err != nil {
			t.Fatal(err)
		}
		same(t, run, record, store.DecodeRun)
	})
}

func TestConflictComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conflict := store.Conflict{
			RunID:   anyText().Draw(t, "run"),
			Seq:     rapid.Int().Draw(t, "number"),
			ID:      anyText().Draw(t, "id"),
			At:      anyTime().Draw(t, "at"),
			Payload: rapid.SampledFrom([][]byte{nil, {1, 2}}).Draw(t, "payload"),
		}
		record, err := store.AppendConflict(nil, &conflict)
		if err != nil {
			t.Fatal(err)
		}
		same(t, conflict, record, store.DecodeConflict)
	})
}

func TestTransitionComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		transition := state.Transition{
			At:    anyTime().Draw(t, "at"),
			Event: state.EventPause,
			From:  state.Running,
			To:    state.Paused,
			Who:   rapid.String().Draw(t, "who"),
			Reason: state.Reason{
				Code:      pager.CodeRateLimited,
				Detail:    rapid.String().Draw(t, "detail"),
				PageIndex: rapid.Int().Draw(t, "page"),
			},
		}
		record, err := store.AppendTransition(nil, &transition)
		if err != nil {
			t.Fatal(err)
		}
		same(t, transition, record, store.DecodeTransition)
	})
}

func TestItemRecordIsCompact(t *testing.T) {
	item := store.Item{
		Scope: "run-1", ID: "item-1", State: store.StateDone, RunID: "run-1", SettledBy: "run-1",
		Page: 40, Ordinal: 7, Attempts: 1, UpdatedAt: time.Unix(1_800_000_000, 123_456_789),
	}
	if n := len(store.AppendItem(nil, &item)); n > 24 {
		t.Errorf("a settled item takes %d bytes, want at most 24", n)
	}
}

func TestRunWithNamesOfANewerBuildIsAVersionError(t *testing.T) {
	run := store.Run{Receipt: state.Receipt{RunID: "r"}}
	record, err := store.AppendRun(nil, &run)
	if err != nil {
		t.Fatal(err)
	}
	record = append(record[:len(record)-1], `,"a_name_of_tomorrow":1}`...)
	if _, err := store.DecodeRun(record); !errors.Is(err, store.ErrVersion) {
		t.Errorf("got %v, want store.ErrVersion", err)
	}
}

func TestInstantThatJSONCannotWriteIsAnError(t *testing.T) {
	run := store.Run{Receipt: state.Receipt{StartedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}
	if _, err := store.AppendRun(nil, &run); err == nil {
		t.Error("a run in the year 10000 gave no error")
	}
}
