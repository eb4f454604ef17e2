// Package report keeps what was measured, and makes the table, the document and
// the plot of it.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
)

// Result is what was measured of one family.
type Result struct {
	Family     string          `json:"family"`
	Work       string          `json:"work"`
	MeasuredAt time.Time       `json:"measured_at"`
	Machine    Machine         `json:"machine"`
	Rounds     []measure.Round `json:"rounds"`
	// Crashes is how many crashes at a random sync found that nothing was lost.
	Crashes int `json:"crashes"`
	// Skipped says what was missing; such a result has no rounds.
	Skipped string `json:"skipped,omitempty"`
}

func path(dir, family string) string {
	return filepath.Join(dir, strings.ReplaceAll(family, "/", "-")+".json")
}

// Save keeps a result in a folder, in place of an earlier one of the family.
func Save(dir string, result Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path(dir, result.Family), append(text, '\n'), 0o644)
}

// Load returns the kept result of a family, and whether there is one.
func Load(dir, family string) (Result, bool, error) {
	text, err := os.ReadFile(path(dir, family))
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	var result Result
	if err := json.Unmarshal(text, &result); err != nil {
		return Result{}, false, fmt.Errorf("%s: %w; measure it again", path(dir, family), err)
	}
	return result, true, nil
}
