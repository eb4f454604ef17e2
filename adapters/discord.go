package adapters

import "github.com/everypage-go/everypage/pager"

// DiscordMessages is the contract of a Discord channel's messages: before the last
// ID, newest first. No flag is documented, so that only an empty page is the end.
// A bot without the permission to read the history gets an empty list, which
// nothing in the answer tells from an empty channel.
func DiscordMessages() Contract {
	return Contract{
		Name:       "discord-messages",
		Doc:        "Discord channel messages: before the last ID until a page is empty. Without READ_MESSAGE_HISTORY the list is empty; searches are not covered.",
		Source:     []string{"Discord developer documentation, Message resource", "Discord developer documentation, Rate limits"},
		Unverified: []string{"errors.codes"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 100, Max: 100},
			Cursor: CursorRule{In: "query:before"},
		},
		Items: Items{ID: []Path{"id"}, CreatedAt: "timestamp"},
		Next:  Next{From: fromLastID},
		End:   EndRule{Rule: EndEmptyPage},
		Errors: ErrorRules{
			// An index that is not ready yet is no page, and is asked again.
			Rules:      []ErrorRule{{Status: []int{202}, Means: pager.CodeServerError}},
			RetryAfter: "retry_after",
		},
		Order: pager.OrderStable,
	}
}

// DiscordMembers is the contract of a guild's members: after the highest ID, in the
// order of IDs, until a page is empty.
func DiscordMembers() Contract {
	c := DiscordMessages()
	c.Name = "discord-members"
	c.Doc = "Discord guild members: after the last user ID until a page is empty."
	c.Source = []string{"Discord developer documentation, Guild resource", "Discord developer documentation, Rate limits"}
	c.Request.Size = Size{In: "query:limit", Default: 1000, Max: 1000}
	c.Request.Cursor.In = "query:after"
	c.Items = Items{ID: []Path{"user.id"}, CreatedAt: "joined_at"}
	return c
}
