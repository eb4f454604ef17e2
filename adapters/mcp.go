package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// MCPTools is the contract of tools/list in the Model Context Protocol, revision
// 2026-07-28 and later: nextCursor until it is absent or null, and the empty string
// is a cursor as any other. resultType=complete says that the call is finished,
// and nothing about the list.
func MCPTools() Contract { return mcp("mcp-tools", "tools", "name") }

// MCPResources is the contract of resources/list, revision 2026-07-28 and later.
func MCPResources() Contract { return mcp("mcp-resources", "resources", "uri") }

// MCPTools2025 is the contract of tools/list in the revisions up to 2025-11-25,
// which leave open what the empty string means: servers wrote it for the end, and
// clients that took it for a cursor went round in circles. It needs review.
func MCPTools2025() Contract { return mcp2025(MCPTools()) }

// MCPResources2025 is the contract of resources/list in the revisions up to
// 2025-11-25.
func MCPResources2025() Contract { return mcp2025(MCPResources()) }

func mcp(name, list string, id Path) Contract {
	return Contract{
		Name:   name,
		Doc:    "MCP " + list + `/list, revision 2026-07-28 and later: result.nextCursor until it is absent or null; "" is a cursor. The caller's headers carry the session.`,
		Source: []string{"Model Context Protocol specification 2026-07-28, Pagination"},
		Request: Request{
			Method: http.MethodPost,
			Header: map[string]string{"Accept": "application/json, text/event-stream"}, // which the transport asks for
			Body:   map[string]any{"jsonrpc": "2.0", "id": 1, "method": list + "/list"},
			Cursor: CursorRule{In: "body:params.cursor"},
		},
		Page:  PageRule{Forbidden: []Path{"error"}},
		Items: Items{At: Path("result." + list), ID: []Path{id}},
		Next:  Next{From: "body:result.nextCursor", Cursors: []string{whenEmpty}},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull}},
		Errors: ErrorRules{
			Rules: []ErrorRule{{Error: "-32602", WithCursor: true, Means: pager.CodeCursorExpired}},
			Codes: map[string]pager.Code{"-32603": pager.CodeServerError},
		},
	}
}

func mcp2025(c Contract) Contract {
	c.Name += "-2025"
	c.Doc = `MCP lists in revisions up to 2025-11-25: result.nextCursor until it is absent or null; "" is ambiguous there and needs review. The caller's headers carry the session.`
	c.Source = []string{"Model Context Protocol specification 2025-11-25, Pagination"}
	c.Next.Cursors = nil
	return c
}
