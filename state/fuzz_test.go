package state_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// A receipt that can be read is written and read again as the same, as JSON and as
// YAML, and nothing that is none makes a reader panic.
func FuzzReceipt(f *testing.F) {
	at := time.Date(2026, time.March, 5, 10, 0, 0, 5, time.UTC)
	receipt := &state.Receipt{
		RunID: "20260305-100000-abc", Endpoint: "https://api.test/items", CursorIn: pager.At(""), CursorOut: pager.At("n\n: x"),
		Status: state.Paused, CompleteWhen: state.CompleteWhen(), SchemaVersion: state.SchemaVersion, StartedAt: at, ResumeAt: at,
		LateBy: state.Duration(time.Minute), Reason: &state.Reason{Code: state.CodeCancelled, Detail: "- \"x\": {"},
	}
	asJSON, err := receipt.JSON()
	if err != nil {
		f.Fatal(err)
	}
	asYAML, err := receipt.YAML()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asJSON)
	f.Add(asYAML)
	f.Add([]byte("{}"))
	f.Add([]byte("pagination_receipt:\n  run_id: 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, format := range map[string]struct {
			parse func([]byte) (*state.Receipt, error)
			write func(*state.Receipt) ([]byte, error)
		}{
			"JSON": {state.ParseJSON, (*state.Receipt).JSON},
			"YAML": {state.ParseYAML, (*state.Receipt).YAML},
		} {
			first, err := format.parse(data)
			if err != nil {
				continue
			}
			written, err := format.write(first)
			if err != nil {
				continue // such as a year that has no text
			}
			second, err := format.parse(written)
			if err != nil {
				t.Fatalf("%s: what was written cannot be read: %v\n%s", name, err, written)
			}
			again, err := format.write(second)
			if err != nil || !bytes.Equal(written, again) {
				t.Fatalf("%s: written again it differs (%v)\n%s\n%s", name, err, written, again)
			}
		}
	})
}
