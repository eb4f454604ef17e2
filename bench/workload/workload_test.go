package workload_test

import (
	"encoding/json"
	"testing"

	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/pager"
)

func TestIDsAreDistinctAndRepeat(t *testing.T) {
	for kind, length := range map[workload.IDs]int{workload.Random: 27, workload.Sequential: 10} {
		seen := make(map[string]bool)
		for from := 0; from < 50_000; from += workload.PageSize {
			for i, id := range kind.Page(from, workload.PageSize) {
				if seen[id] || len(id) != length {
					t.Fatalf("%s: %q at %d", kind, id, from+i)
				}
				seen[id] = true
				if again := string(kind.Append(nil, from+i)); again != id {
					t.Fatalf("%s: %q, and then %q", kind, id, again)
				}
			}
		}
	}
}

func TestAWalkShowsEveryItemOnce(t *testing.T) {
	walk := workload.Walk{IDs: workload.Sequential, Items: 250}
	seen := make(map[string]bool)
	for item, err := range pager.Items(t.Context(), walk.Pager()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[item.ID] = true
	}
	if len(seen) != 250 {
		t.Errorf("%d items", len(seen))
	}
}

// The answers are as large as real ones, and hold what is decoded of them.
func TestAnswers(t *testing.T) {
	var issues []workload.Issue
	text := workload.Issues(workload.PageSize)
	if err := json.Unmarshal(text, &issues); err != nil || len(issues) != workload.PageSize || issues[3].User.Login == "" || issues[3].Body == "" || issues[3].CreatedAt.IsZero() {
		t.Errorf("issues: %v", err)
	}
	if size := len(text) / workload.PageSize; size < 2500 || size > 5000 {
		t.Errorf("an issue has %d bytes", size)
	}
	var page struct{ Data []workload.Charge }
	text = workload.Charges(workload.PageSize)
	if err := json.Unmarshal(text, &page); err != nil || len(page.Data) != workload.PageSize || page.Data[3].PaymentMethodDetails.Card.Last4 == "" {
		t.Errorf("charges: %v", err)
	}
	if size := len(text) / workload.PageSize; size < 1800 || size > 3500 {
		t.Errorf("a charge has %d bytes", size)
	}
}
