package proptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// CaseOptions say what cases are played against. A nil *CaseOptions is valid.
type CaseOptions struct {
	// Pager makes the pager that walks a case's list, once for each process.
	// Defaults to [Endpoint.Pager].
	Pager func(Endpoint) (pager.Pager[json.RawMessage], error)
	// Run is the engine. Defaults to everypage.Run.
	Run func(ctx context.Context, ledger store.Store, job everypage.Job[json.RawMessage]) (*state.Receipt, error)
	// Again is what to add to a go test command that plays one case again, such as
	// "-cases=DIR". Defaults to nothing.
	Again string
}

// Endpoint is a case's list, as its setup describes it. Its client reaches the
// case's server under the names that the case uses, and nothing else.
type Endpoint struct {
	Client   *adapters.Client
	Contract adapters.Contract
	URL      string
	Options  *adapters.Options
}

// Pager returns the library's own pager for the list.
func (e Endpoint) Pager() (pager.Pager[json.RawMessage], error) {
	return adapters.List[json.RawMessage](e.Client, e.Contract, e.URL, e.Options)
}

func (o *CaseOptions) pager(e Endpoint) (pager.Pager[json.RawMessage], error) {
	if o == nil || o.Pager == nil {
		return e.Pager()
	}
	return o.Pager(e)
}

func (o *CaseOptions) run(ctx context.Context, ledger store.Store, job everypage.Job[json.RawMessage]) (*state.Receipt, error) {
	if o == nil || o.Run == nil {
		return everypage.Run(ctx, ledger, job)
	}
	return o.Run(ctx, ledger, job)
}

// TestCases plays every case in the top level of a folder, and its variants, each
// in a subtest of its own. A file that ends in .json is a case.
func TestCases(t *testing.T, folder fs.FS, options *CaseOptions) {
	t.Helper()
	cases, err := readFolder(folder)
	if err != nil {
		t.Error(err)
	}
	for _, variants := range cases {
		if len(variants) == 0 {
			continue // the file cannot be read, which was said
		}
		t.Run(variants[0].name(), func(t *testing.T) {
			for i, s := range variants {
				if s.variant == "" {
					testCase(t, s, options)
					continue
				}
				t.Run(fmt.Sprintf("variant_%d", i), func(t *testing.T) { testCase(t, s, options) })
			}
		})
	}
}

func testCase(t *testing.T, s *scenario, options *CaseOptions) {
	t.Helper()
	if err := check(t.Context(), s, options); err != nil {
		again := ""
		if options != nil && options.Again != "" {
			again = " " + options.Again
		}
		t.Errorf("%v\n  again: go test -run '^%s$'%s", err, t.Name(), again)
	}
}

// CheckCases is [TestCases] without a test: it plays every case and returns what
// is wrong as joined [*CaseError]s and [*FieldError]s.
func CheckCases(ctx context.Context, folder fs.FS, options *CaseOptions) error {
	cases, err := readFolder(folder)
	problems := []error{err}
	for _, variants := range cases {
		for _, s := range variants {
			problems = append(problems, check(ctx, s, options))
		}
	}
	return errors.Join(problems...)
}

// check plays one scenario.
func check(ctx context.Context, s *scenario, options *CaseOptions) error {
	p, err := playCase(ctx, s, options)
	if err != nil {
		return err
	}
	o, err := p.outcome(ctx)
	if err != nil {
		return &FieldError{File: s.file, Problem: err.Error()}
	}
	p.compare(o)
	return p.verdict()
}
