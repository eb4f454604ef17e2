package adapters_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// update rewrites the documents: go test ./adapters -update.
var update = flag.Bool("update", false, "rewrite the documents") //nolint:gochecknoglobals // a flag of the test

const document = "../docs/contracts.md"

// The document holds what the contracts say: go test ./adapters -update.
func TestContractsDocument(t *testing.T) {
	var table, notes strings.Builder
	table.WriteString("| contract | walks by | ends with | vetoes | order | source |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, c := range adapters.Builtin() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", c.Name, walksBy(c), endsWith(c, c.End), vetoes(c.Vetoes), order(c), strings.Join(c.Source, "; "))
		fmt.Fprintf(&notes, "- **`%s`** %s", c.Name, c.Doc)
		if len(c.Unverified) > 0 {
			fmt.Fprintf(&notes, " *Not confirmed:* %s.", quotedList(c.Unverified))
		}
		notes.WriteByte('\n')
	}
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, part := range []struct{ name, want string }{{"contracts", table.String()}, {"notes", notes.String()}} {
		begin, end := "<!-- "+part.name+": generated -->\n", "<!-- end of "+part.name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		got, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no part between %q and %q", document, begin, end)
		}
		if *update {
			text, got = before+begin+part.want+end+after, part.want
		}
		if got != part.want {
			t.Errorf("the %s in %s are not those of the code. If that is meant, go test ./adapters -update", part.name, document)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeNamesEveryContract keeps the README's list whole.
func TestReadmeNamesEveryContract(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range adapters.Builtin() {
		if !strings.Contains(string(data), "`"+c.Name+"`") {
			t.Errorf("README.md does not name %s", c.Name)
		}
	}
}

func quotedList(texts []string) string { return "`" + strings.Join(texts, "`, `") + "`" }

// place writes a place as a person says it.
func place(p adapters.Place) string {
	where, name, _ := strings.Cut(string(p), ":")
	switch where {
	case "body":
		return "`" + name + "`"
	case "last":
		return "the last item's `" + name + "`"
	case "last_id":
		return "the last item's ID"
	case "link":
		return "the `Link` header, rel `" + name + "`"
	case "header":
		return "the header `" + name + "`"
	}
	return "counting, by " + name
}

func walksBy(c adapters.Contract) string {
	if c.End.Rule == adapters.EndBounded {
		return "nothing: one page"
	}
	var parts []string
	for _, p := range c.Next.Parts {
		parts = append(parts, place(p.From))
	}
	text := strings.Join(parts, " with ")
	if c.Next.From != "" {
		text = place(c.Next.From)
	}
	for _, p := range c.Next.Or {
		text += " or " + place(p)
	}
	if strings.HasPrefix(string(c.Next.From), "body:") && c.Request.Cursor.In == "url" {
		text += ", an address"
	}
	if c.NotReplayable {
		text += "; a page cannot be read twice"
	}
	return text
}

func endsWith(c adapters.Contract, e adapters.EndRule) string {
	text := ""
	switch e.Rule {
	case adapters.EndFlagFalse:
		text = "`" + string(e.At) + "` is false"
	case adapters.EndFlagTrue:
		text = "`" + string(e.At) + "` is true"
	case adapters.EndCursor:
		values := slices.Clone(e.When)
		for i, v := range values {
			switch {
			case v == "empty" && c.Request.Cursor.As != "json":
				values[i] = `""`
			case v == "zero":
				values[i] = "0"
			}
		}
		text = "the cursor is " + strings.Join(values, " or ")
	case adapters.EndNoNextLink:
		text = "no such link"
	case adapters.EndEmptyPage:
		text = "an empty page"
	case adapters.EndTotal:
		text = "the total is reached"
	case adapters.EndLastPage:
		text = "page `" + string(e.At) + "`"
	case adapters.EndShortPage:
		text = "a page shorter than the size that the answer gives"
	case adapters.EndEchoed:
		text = "the cursor that was sent comes back"
	case adapters.EndBounded:
		text = "its one page, which is never the whole collection"
	}
	var several []string
	for _, inner := range slices.Concat(e.All, e.Any) {
		several = append(several, endsWith(c, inner))
	}
	if len(several) > 0 {
		text = strings.Join(several, map[bool]string{true: ", and ", false: ", or "}[len(e.All) > 0])
	}
	if e.AndEmpty {
		text += ", on an empty page"
	}
	if len(e.EmptyErrors) > 0 {
		text += ", or at once the error " + quotedList(e.EmptyErrors)
	}
	return text
}

func vetoes(all []adapters.Veto) string {
	if len(all) == 0 {
		return "none"
	}
	texts := make([]string, 0, len(all))
	for _, v := range all {
		text := "`" + string(v.At) + "`"
		switch {
		case v.FullPageWithoutLink:
			text = "a full page without a `Link` header"
		case v.Query != "":
			text = fmt.Sprintf("`%s` in the address without `%s`", v.Query, v.Lacks)
		case v.Is != nil:
			text += "=" + *v.Is
		case v.IsNot != nil:
			text += " is not " + *v.IsNot
		case v.Above != nil:
			text += fmt.Sprintf(" above %d", *v.Above)
		case v.Absent:
			text += " is absent"
		case v.Constant:
			text += " changes"
		}
		if v.LastPage {
			text += ", on the last page"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func order(c adapters.Contract) string {
	switch c.Order {
	case pager.OrderUnstable:
		return "unstable"
	case pager.OrderStable:
		return "stable"
	case pager.OrderStableAscending:
		return "stable, ascending"
	case pager.OrderUnspecified:
	}
	return "unspecified"
}

// TestDocumentedAPIs asks for a contract of each API that facts were gathered of.
func TestDocumentedAPIs(t *testing.T) {
	var facts struct{ APIs []struct{ ID string } }
	if err := json.Unmarshal(shared(t, "contracts.json"), &facts); err != nil {
		t.Fatal(err)
	}
	other := map[string][]string{
		"stripe-list":     {"stripe-v1"},
		"notion":          {"notion", "notion-query"},
		"google-compute":  {"google-compute", "google-compute-aggregated"},
		"odata-azure":     {"odata", "azure-arm"},
		"aws-token":       {"aws-json", "aws-json-pascal", "cloudwatch-filter-log-events"},
		"aws-s3":          {"s3-list-objects-v2", "s3-list-objects", "s3-list-multipart-uploads"},
		"aws-dynamodb":    {"dynamodb-scan", "dynamodb-query"},
		"aws-cwl-get":     {"cloudwatch-get-log-events"},
		"rfc8288":         {"link-header"},
		"twilio":          {"twilio-2010", "twilio-v1"},
		"discord":         {"discord-messages", "discord-members"},
		"es-search-after": {"elasticsearch-search-after"},
		"es-scroll":       {"elasticsearch-scroll"},
		"mcp":             {"mcp-tools", "mcp-resources", "mcp-tools-2025", "mcp-resources-2025"},
	}
	for _, api := range facts.APIs {
		names := other[api.ID]
		if names == nil {
			names = []string{api.ID}
		}
		for _, name := range names {
			if _, err := adapters.Named(name); err != nil {
				t.Errorf("%s: %v", api.ID, err)
			}
		}
	}
}
