package everypage_test

import (
	"slices"
	"testing"

	"github.com/everypage-go/everypage/internal/realtest"
)

// A real server, whose catalogue pages by a Link header that is relative to the
// address: 25 repositories, 4 a page, and a process that is killed on page 3.
func TestRegistryCatalogueThroughAKill(t *testing.T) {
	registry := realtest.StartRegistry(t)
	names := registry.PushMany(t, 25)
	w := newRealWalk(t, failurePlace{List: registry.URL + "/v2/_catalog", Contract: "docker-registry", Size: 4})
	failureKilled(t, w.place, "notes 10")
	receipt, err := w.run(0)
	w.wantWhole(receipt, err, 7, 25)

	var walked []string
	for _, note := range w.crm.Notes() {
		walked = append(walked, note.TicketID)
	}
	if !slices.Equal(walked, names) {
		t.Errorf("the repositories are %v, want %v", walked, names)
	}
}
