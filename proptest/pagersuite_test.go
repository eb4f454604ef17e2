package proptest

import (
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// contractPager returns a pager by a contract.
func contractPager(c adapters.Contract) func(url string, pageSize int) (pager.Pager[simTicket], error) {
	return func(url string, pageSize int) (pager.Pager[simTicket], error) {
		return adapters.List[simTicket](nil, c, url, &adapters.Options{PageSize: pageSize})
	}
}

// simTicket is an item of the simulated API.
type simTicket struct {
	ID string `json:"id"`
}

func TestPager_Contracts(t *testing.T) {
	for name, c := range map[string]adapters.Contract{
		"github-rest": adapters.GitHubREST(), "stripe-v1": adapters.StripeV1(),
		"google-aip158": adapters.GoogleAIP158(), "keyset-catalogue": adapters.KeysetCatalogue(),
	} {
		t.Run(name, func(t *testing.T) {
			TestPager(t, func() (PagerAPI[simTicket], error) { return SimulatedAPI(name, contractPager(c)) })
		})
	}
}
