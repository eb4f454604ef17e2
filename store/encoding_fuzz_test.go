package store_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// judge fails on a decoding error that is not one of the two that are promised.
func judge(t *testing.T, err error) (decoded bool) {
	t.Helper()
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrVersion) {
		t.Fatalf("error %v wraps neither store.ErrCorrupt nor store.ErrVersion", err)
	}
	return err == nil
}

func FuzzDecodeItem(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add([]byte{2, 0, 0})
	f.Add(store.AppendItem(nil, &store.Item{Scope: "s", ID: "i", RunID: "s", State: store.StateDone}))
	f.Add(store.AppendItem(nil, &store.Item{RunID: "r", SettledBy: "x", Payload: []byte{}, Detail: "d", DoubtSince: time.Unix(1, 2)}))
	f.Add([]byte{1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, record []byte) {
		item, err := store.DecodeItem("s", "i", record)
		if !judge(t, err) {
			return
		}
		again, err := store.DecodeItem("s", "i", store.AppendItem(nil, &item))
		if err != nil || !reflect.DeepEqual(item, again) {
			t.Fatalf("second round: %v\n%#v\n%#v", err, item, again)
		}
	})
}

func FuzzDecodePage(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{9})
	f.Add(store.AppendPage(nil, &store.Page{Next: pager.At(""), IDs: []string{"a", ""}, Vetoes: []string{"v"}, Unidentified: []int{3}}))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, record []byte) {
		page, err := store.DecodePage("r", 1, 2, record)
		if !judge(t, err) {
			return
		}
		again, err := store.DecodePage("r", 1, 2, store.AppendPage(nil, &page))
		if err != nil || !reflect.DeepEqual(page, again) {
			t.Fatalf("second round: %v\n%#v\n%#v", err, page, again)
		}
	})
}

func FuzzDecodeRun(f *testing.F) {
	for _, run := range []store.Run{
		{},
		{Receipt: state.Receipt{RunID: "\xff", CursorIn: pager.At("\xfe"), CursorOut: pager.At("")}, Definition: &store.Definition{Once: "\x80"}},
	} {
		record, err := store.AppendRun(nil, &run)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	f.Add([]byte("\x01\x00\x00\x00null"))
	f.Add([]byte("\x01\x01\x63\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, record []byte) {
		_, err := store.DecodeRun(record)
		judge(t, err)
	})
}

func FuzzDecodeJSONRecords(f *testing.F) {
	f.Add([]byte("\x01{}"))
	f.Add([]byte("\x01\x00{}"))
	f.Add([]byte("\x01\x01\x01\x01x{\"id\":\"\"}"))
	f.Add([]byte("\x02{}"))
	f.Fuzz(func(t *testing.T, record []byte) {
		_, err := store.DecodeConflict(record)
		judge(t, err)
		_, err = store.DecodeTransition(record)
		judge(t, err)
	})
}
