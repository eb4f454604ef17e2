package adapters_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// thread is a small walk after an issue thread or a document.
type thread struct {
	ID       string
	Expected string
	Why      string
	Pages    json.RawMessage
}

// threadPage is one of its answers, and in words what was asked for.
type threadPage struct {
	Request string
	Status  int
	Headers map[string]string
	Body    json.RawMessage
}

// playing is how a thread is played here.
type playing struct {
	contract adapters.Contract
	address  string // of the list; things by default
	from     string // a cursor to begin with
	wrap     string // what stands around each body, with BODY in it
	skip     string // why it is not played
}

// verdicts of a walk, as far as a pager and the engine's rules about cursors tell.
const (
	complete = "complete"
	bounded  = "bounded"
	review   = "review"
	paused   = "pause"
	expired  = "cursor_expired"
)

// expectation reads what a thread expects.
func expectation(text string) string {
	switch {
	case strings.HasPrefix(text, "end of a bounded feed"):
		return bounded
	case strings.Contains(text, "only if the adapter opts in"), strings.Contains(text, "needs review"):
		return review
	case strings.HasSuffix(text, "restart"):
		return expired
	case strings.HasPrefix(text, "pause"):
		return paused
	}
	return complete
}

func threads() map[string]playing {
	at := func(c adapters.Contract, id adapters.Path) adapters.Contract {
		c.Items.ID = []adapters.Path{id}
		return c
	}
	const jsonRPC = `{"jsonrpc":"2.0","id":1,"result":BODY}`
	flagged := adapters.StripeSearch()
	flagged.Next.From = "body:next"
	return map[string]playing{
		"airtable-expired":          {contract: adapters.Airtable(), from: "itr"},
		"airtable-offset":           {contract: adapters.Airtable()},
		"bsky-echo":                 {contract: adapters.ATProto()},
		"bsky-empty-with-cursor":    {contract: adapters.ATProto()},
		"bsky-null-cursor":          {contract: adapters.ATProto()},
		"compute-no-results-page":   {contract: at(adapters.GoogleComputeAggregated(), "name")},
		"crossref-one-result":       {contract: adapters.Crossref()},
		"cwl-filter-same-token":     {contract: adapters.CloudWatchFilterLogEvents()},
		"cwl-get-log-events-end":    {contract: adapters.CloudWatchGetLogEvents(), from: "f/1"},
		"discord-202":               {contract: adapters.DiscordMessages()},
		"drive-incomplete":          {contract: adapters.GoogleDrive()},
		"github-compare":            {contract: adapters.GitHubREST(), address: things + "/compare/a...b"},
		"github-empty-repo":         {contract: adapters.GitHubREST()},
		"github-packages-no-link":   {contract: adapters.GitHubUnlinked(), address: "https://api.github.com/orgs/o/packages?per_page=1"}, // 1 of the 100 is kept
		"github-search-incomplete":  {contract: adapters.GitHubSearch()},
		"gitlab-keyset-end":         {contract: adapters.GitLabKeyset(), address: "https://gitlab.example.com/api/v4/projects?pagination=keyset&per_page=50&order_by=id&sort=asc"},
		"gitlab-offset-cap":         {contract: adapters.GitLabOffset(), address: things + "?per_page=100"},
		"google-empty-middle":       {contract: adapters.GoogleAIP158()},
		"google-empty-string-token": {contract: adapters.GoogleAIP158()},
		"google-fields-mask":        {contract: at(adapters.GoogleAIP158(), "type")},
		"graph-onenote-top":         {contract: adapters.MicrosoftOneNote()},
		"graph-same-skiptoken":      {contract: adapters.MicrosoftGraph(), address: "https://graph.microsoft.com/v1.0/me/messages"},
		"graph-skip-zero":           {contract: adapters.MicrosoftGraph(), address: "https://graph.microsoft.com/v1.0/me/people"},
		"hapi-history-no-next":      {contract: adapters.FHIRHistory()},
		"hubspot-search-cap":        {contract: adapters.HubSpotSearch()},
		"hubspot-short-page":        {contract: adapters.HubSpotSearch()},
		"jira-jql-last":             {contract: adapters.JiraJQL()},
		"jira-legacy-shape":         {contract: adapters.JiraJQL()},
		"jira-token-no-progress":    {contract: adapters.JiraJQL()},
		"k8s-410-with-token":        {contract: adapters.Kubernetes(), from: `["T","10245"]`},
		"k8s-chunks":                {contract: adapters.Kubernetes()},
		"keyset-429":                {contract: adapters.KeysetCatalogue()},
		"keyset-catalogue":          {contract: adapters.KeysetCatalogue()},
		"keyset-conflict":           {skip: "its pages are two walks; TestContractPages has both"},
		"keyset-feed":               {contract: adapters.KeysetFeed()},
		"mcp-empty-cursor-2025":     {contract: adapters.MCPTools2025(), wrap: jsonRPC},
		"mcp-empty-cursor-2026":     {contract: adapters.MCPTools(), wrap: jsonRPC},
		"mediawiki-continue":        {contract: adapters.MediaWiki(), address: "https://wiki.example.test/w/api.php?action=query&list=categorymembers"},
		"notion-capped":             {contract: adapters.NotionQuery()},
		"oai-extra-token":           {skip: "its pages are told in words; TestFamilyWalks has the short page with a token"},
		"oai-self-token":            {skip: "its pages are told in words; a cursor that was seen before is the engine's to refuse"},
		"openai-style-empty-next":   {contract: flagged},
		"openalex-end":              {contract: adapters.OpenAlex()},
		"relay-errors":              {contract: adapters.AtConnection(adapters.Relay(), "data.repository.issues")},
		"relay-stuck":               {contract: adapters.AtConnection(adapters.ShopifyGraphQL(), "data.productVariants")},
		"salesforce-two-pages":      {contract: adapters.Salesforce()},
		"salesforce-undefined":      {contract: adapters.Salesforce()},
		"shopify-link":              {contract: adapters.ShopifyREST(), address: "https://shop.myshopify.com/admin/api/2019-10/orders.json"},
		"slack-empty-cursor":        {contract: adapters.Slack()},
		"slack-ok-false":            {contract: adapters.Slack(), from: "abc="},
		"stripe-empty-has-more":     {contract: adapters.StripeV1()},
		"stripe-v2-empty-middle":    {contract: adapters.StripeV2()},
		"zendesk-talk-self-next":    {contract: adapters.ZendeskIncremental()},
	}
}

// TestThreadFixtures plays the shared small pages against the contract that speaks
// of them.
func TestThreadFixtures(t *testing.T) {
	var all []thread
	if err := json.Unmarshal(shared(t, "fixtures/from-threads-and-docs.json"), &all); err != nil {
		t.Fatal(err)
	}
	plays := threads()
	for _, th := range all {
		t.Run(th.ID, func(t *testing.T) {
			p, known := plays[th.ID]
			switch {
			case !known:
				t.Fatal("no contract plays it")
			case p.skip != "":
				t.Skip(p.skip)
			}
			if got, want := play(t, p, th), expectation(th.Expected); got != want {
				t.Errorf("%s: got %s, want %s (%s)", th.Why, got, want, th.Expected)
			}
		})
	}
}

func play(t *testing.T, p playing, th thread) string {
	t.Helper()
	var script []threadPage
	if err := json.Unmarshal(th.Pages, &script); err != nil {
		t.Fatal(err)
	}
	address := p.address
	if address == "" {
		_, query, _ := strings.Cut(script[0].Request, "?")
		address = things + "?" + query
	}
	tr, client := api(t)
	for _, page := range script {
		body := string(page.Body)
		if p.wrap != "" {
			body = strings.ReplaceAll(p.wrap, "BODY", body)
		}
		var header []string
		for name, text := range page.Headers {
			header = append(header, name, text)
		}
		tr.script = append(tr.script, answer(page.Status, body, header...))
	}
	at := pager.Cursor{}
	if p.from != "" {
		at = pager.At(p.from)
	}
	verdict := verdictOf(t, list(t, client, p.contract, address, nil), at, p.contract.RepeatLimit)
	where, _, _ := strings.Cut(string(p.contract.Request.Cursor.In), ":")
	for i, x := range tr.seen {
		wanted, _ := url.QueryUnescape(script[i].Request)
		sent, _ := url.QueryUnescape(x.url)
		if where == "query" && p.from == "" && i > 0 && !strings.Contains(wanted, " ") && !strings.Contains(sent, wanted) {
			t.Errorf("request %d went to %s and not with %s", i, sent, wanted)
		}
	}
	if verdict == complete && len(tr.script) > 0 {
		t.Errorf("%d answers were not asked for", len(tr.script))
	}
	return verdict
}

// verdictOf walks as the engine does, as far as cursors and evidence go.
func verdictOf(t *testing.T, p pager.Pager[json.RawMessage], at pager.Cursor, repeats int) string {
	t.Helper()
	read := map[pager.Cursor]bool{}
	owed, vetoed, still := false, false, 0
	for page, err := range p.Pages(t.Context(), at) {
		if err != nil {
			fault, ok := errors.AsType[*pager.Fault](err)
			switch {
			case !ok:
				t.Fatal(err)
			case fault.Code == pager.CodeCursorExpired:
				return expired
			case fault.Verdict == pager.Pause:
				return paused
			}
			return review
		}
		read[page.Cursor] = true
		vetoed = vetoed || len(page.Vetoes) > 0
		for _, item := range page.Items {
			owed = owed || item.ID == ""
		}
		if still++; len(page.Items) > 0 {
			still = 0
		}
		switch {
		case page.End == pager.EndLast && (vetoed || owed):
			return review
		case page.Bounded:
			return bounded
		case page.End == pager.EndLast:
			return complete
		case read[page.Next] && still > repeats, read[page.Next] && repeats == 0:
			return review
		}
	}
	return review
}
