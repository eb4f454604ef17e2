package simapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Item is one element of a list: a support ticket.
type Item struct {
	ID        string
	CreatedAt time.Time
	Subject   string
	Customer  string
	Status    string
	// Raw is sent in place of the other fields where it is set, for an entry
	// without an ID, a null, or anything else a list should not hold. It must be
	// valid JSON.
	Raw json.RawMessage
}

// body is an item in the names that all contracts share. The further names are
// those of one API family; a reader of another ignores them.
type body struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"created_at"`
	Subject    string    `json:"subject"`
	Customer   string    `json:"customer"`
	Status     string    `json:"status"`
	Object     string    `json:"object,omitempty"`
	Created    int64     `json:"created,omitempty"`
	Name       string    `json:"name,omitempty"`
	CreateTime string    `json:"createTime,omitempty"`
}

// encode gives the item as the contract's API would send it.
func (i Item) encode(contract Contract) (json.RawMessage, error) {
	if i.Raw != nil {
		return i.Raw, nil
	}
	b := body{ID: i.ID, CreatedAt: i.CreatedAt, Subject: i.Subject, Customer: i.Customer, Status: i.Status}
	switch contract {
	case StripeV1:
		b.Object, b.Created = "ticket", i.CreatedAt.Unix()
	case GoogleAIP158:
		b.Name, b.CreateTime = "tickets/"+i.ID, i.CreatedAt.Format(time.RFC3339Nano)
	case GitHubREST, KeysetCatalogue, KeysetFeed:
	}
	encoded, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("simapi: item %q: %w", i.ID, err)
	}
	return encoded, nil
}

// Tickets returns overdue tickets with the given IDs, created one minute apart,
// the first one at the given instant.
func Tickets(first time.Time, ids ...string) []Item {
	items := make([]Item, len(ids))
	for i, id := range ids {
		items[i] = Item{
			ID:        id,
			CreatedAt: first.Add(time.Duration(i) * time.Minute),
			Subject:   "Ticket " + id + " is overdue",
			Customer:  fmt.Sprintf("customer-%02d", i%7),
			Status:    "overdue",
		}
	}
	return items
}

// NumberedTickets returns n overdue tickets with the IDs 1 to n, as [Tickets]
// does.
func NumberedTickets(first time.Time, n int) []Item {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return Tickets(first, ids...)
}
