package adapters_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// TestRunsOfOddContracts runs whole jobs over the contracts whose cursors ask most
// of the engine: some repeat, some are empty, some carry more than the API's own.
func TestRunsOfOddContracts(t *testing.T) {
	scroll := func(hits string) canned {
		return page(`{"_scroll_id":"S1","timed_out":false,"_shards":{"failed":0},"hits":{"hits":` + hits + `}}`)
	}
	events := func(items, token string) canned { return page(`{"events":[` + items + `]` + token + `}`) }
	pods := func(version, more, uid string) canned {
		return page(`{"metadata":{"resourceVersion":"` + version + `"` + more + `},"items":[{"metadata":{"uid":"` + uid + `"}}]}`)
	}
	tools := func(name, more string) canned {
		return page(`{"result":{"tools":[{"name":"` + name + `"}]` + more + `}}`)
	}
	for name, c := range map[string]struct {
		contract adapters.Contract
		script   []canned
		ids      string
		status   state.Status
		code     pager.Code
	}{
		"a scroll whose ID stays the same": {
			adapters.ElasticsearchScroll(),
			[]canned{scroll(`[{"_id":"a"}]`), scroll(`[{"_id":"b"}]`), scroll(`[{"_id":"c"}]`), scroll(`[]`)},
			"a b c", state.Complete, "",
		},
		"a token that stays the same for a while": {
			adapters.CloudWatchFilterLogEvents(),
			[]canned{events("", `,"nextToken":"T"`), events("", `,"nextToken":"T"`), events("", `,"nextToken":"T"`), events(`{"eventId":"e"}`, "")},
			"e", state.Complete, "",
		},
		"a token that comes back at the end": {
			adapters.CloudWatchGetLogEvents(),
			[]canned{events(`{"timestamp":1,"message":"m"}`, `,"nextForwardToken":"f1"`), events("", `,"nextForwardToken":"f2"`), events("", `,"nextForwardToken":"f2"`)},
			"1/m", state.Complete, "",
		},
		"one version throughout": {
			adapters.Kubernetes(), []canned{pods("7", `,"continue":"T1"`, "a"), pods("7", `,"continue":""`, "b")}, "a b", state.Complete, "",
		},
		"a version that changes": {
			adapters.Kubernetes(), []canned{pods("7", `,"continue":"T1"`, "a"), pods("8", "", "b")}, "a b", state.NeedsReview, state.CodeEndVetoed,
		},
		"the empty string as a cursor": {
			adapters.MCPTools(), []canned{tools("a", `,"nextCursor":""`), tools("b", "")}, "a b", state.Complete, "",
		},
		"the empty string for ever": {
			adapters.MCPTools(), []canned{tools("a", `,"nextCursor":""`), tools("a", `,"nextCursor":""`)}, "a", state.NeedsReview, state.CodeCursorRepeated,
		},
		"the empty string in an old revision": {
			adapters.MCPTools2025(), []canned{tools("a", `,"nextCursor":""`)}, "a", state.NeedsReview, pager.CodeEndUnknown,
		},
		"an error that means an empty list": {
			adapters.OAIPMH(), []canned{page(`<?xml version="1.0"?><OAI-PMH><responseDate/><error code="noRecordsMatch"/></OAI-PMH>`)}, "", state.Complete, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := api(t, c.script...)
			ledger, err := pebblestore.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := ledger.Close(); err != nil {
					t.Error(err)
				}
			}()
			var seen []string
			receipt, err := everypage.Run(t.Context(), ledger, everypage.Job[json.RawMessage]{
				Name: "odd", Action: "look", Pager: list(t, client, c.contract, things+"?scroll=1m&verb=ListRecords", nil),
				Handle: func(_ context.Context, item everypage.Item[json.RawMessage]) error {
					seen = append(seen, item.ID)
					return nil
				},
			})
			if (err == nil) != (receipt.Status == state.Complete) || receipt.Status != c.status || strings.Join(seen, " ") != c.ids {
				t.Errorf("%s after %q: %v", receipt.Status, seen, err)
			}
			if got := receipt.Reason; c.code != "" && (got == nil || got.Code != c.code) {
				t.Errorf("the reason is %v, want %s", got, c.code)
			}
		})
	}
}
