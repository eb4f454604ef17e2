package store_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// fullRun has something in every field that a run can have.
func fullRun() store.Run {
	var run store.Run
	fill(reflect.ValueOf(&run).Elem(), 1)
	return run
}

// fill sets everything in a value to what depends on n.
func fill(v reflect.Value, n int) {
	switch value := v.Addr().Interface().(type) {
	case *time.Time:
		*value = time.Unix(int64(1_800_000_000+n), 7).UTC()
		return
	case *pager.Cursor:
		*value = pager.At(string(rune('a' + n)))
		return
	}
	switch v.Kind() { //nolint:exhaustive // a run has no other kinds
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.String:
		v.SetString(string(rune('a' + n)))
	case reflect.Bool:
		v.SetBool(n%2 == 1)
	case reflect.Uint8:
		v.SetUint(uint64(n))
	default:
		v.SetInt(int64(n))
	}
}

// eachField calls do with each field of a run, alone, as another than in fullRun.
func eachField(t *testing.T, do func(name string, run store.Run)) {
	t.Helper()
	var visit func(name string, at func(*store.Run) reflect.Value)
	visit = func(name string, at func(*store.Run) reflect.Value) {
		probe := fullRun()
		v := at(&probe)
		_, isTime := reflect.TypeAssert[time.Time](v)
		_, isCursor := reflect.TypeAssert[pager.Cursor](v)
		switch {
		case isTime || isCursor:
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				visit(name+"."+v.Type().Field(i).Name, func(r *store.Run) reflect.Value { return at(r).Field(i) })
			}
			return
		case v.Kind() == reflect.Pointer:
			visit(name, func(r *store.Run) reflect.Value { return at(r).Elem() })
			without := fullRun()
			at(&without).SetZero()
			do(name+" is nil", without)
			return
		}
		changed := fullRun()
		fill(at(&changed), 2)
		do(name, changed)
	}
	visit("run", func(r *store.Run) reflect.Value { return reflect.ValueOf(r).Elem() })
}

// A field that is neither in the progress nor looked at by SameBase would be lost.
func TestNoFieldOfARunIsLost(t *testing.T) {
	fields := 0
	eachField(t, func(name string, changed store.Run) {
		fields++
		kept := fullRun()
		if !store.SameBase(&kept, &changed) {
			return // the whole run is written
		}
		if err := store.DecodeProgress(store.AppendProgress(nil, &changed), &kept); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(kept, changed) {
			t.Errorf("a change of %s alone is lost", name)
		}
	})
	if fields < 70 {
		t.Errorf("%d fields were tried", fields)
	}
}

func TestProgressComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyRun().Draw(t, "run")
		record := store.AppendProgress(nil, &run)
		same(t, run, record, func(record []byte) (store.Run, error) {
			got := run
			got.Receipt.CursorIn, got.Receipt.PendingCount, got.Fetching = pager.Cursor{}, -1, -7
			got.Receipt.ReportedTotal = &state.ReportedTotal{First: 1}
			err := store.DecodeProgress(record, &got)
			return got, err
		})
	})
}
