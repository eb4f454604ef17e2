package workload

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Issue is what a program decodes of an entry of a tracker: about half of what
// the API sends of it.
type Issue struct {
	ID        int64     `json:"id"`
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	State     string    `json:"state"`
	Locked    bool      `json:"locked"`
	Body      string    `json:"body"`
	HTMLURL   string    `json:"html_url"`
	Comments  int       `json:"comments"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	User      Account   `json:"user"`
	Assignee  *Account  `json:"assignee"`
	Labels    []Label   `json:"labels"`
	Milestone *struct {
		Title string     `json:"title"`
		DueOn *time.Time `json:"due_on"`
	} `json:"milestone"`
}

// Account is a person or a program.
type Account struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"`
}

// Label is a label of an issue.
type Label struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
}

// Issues returns a page of issues as an API such as GitHub's sends it: some 3 KB
// each, mostly addresses and a body of text with line breaks and escapes.
func Issues(count int) []byte {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same page each time
	all := make([]map[string]any, count)
	for i := range all {
		all[i] = issue(random, i)
	}
	return encode(all)
}

func issue(random *rand.Rand, i int) map[string]any {
	number := 40_000 - i
	base := fmt.Sprintf("https://api.example.com/repos/octo-org/hello-world/issues/%d", number)
	created := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(1e6)) * time.Second)
	labels := make([]map[string]any, random.IntN(4))
	for n := range labels {
		id := 200_000_000 + random.IntN(1e6)
		labels[n] = map[string]any{
			"id": id, "node_id": fmt.Sprintf("MDU6TGFiZWwyMDgwNDU5NDY%d", id), "url": base + "/labels/area-" + fmt.Sprint(n),
			"name": "area/" + words(random, 1), "color": "f29513", "default": false, "description": words(random, 6),
		}
	}
	var assignee, milestone any
	if i%3 == 0 {
		assignee = account(random)
	}
	if i%4 == 0 {
		milestone = map[string]any{"url": base + "/milestone", "id": 1002604, "number": 1, "state": "open", "title": "v1." + fmt.Sprint(i), "description": words(random, 12), "due_on": created.Add(1e6 * time.Second)}
	}
	return map[string]any{
		"id": 2_900_000_000 - int64(i)*7919, "node_id": fmt.Sprintf("MDU6SXNzdWUx%08d", i), "number": number,
		"url": base, "repository_url": "https://api.example.com/repos/octo-org/hello-world",
		"labels_url": base + "/labels{/name}", "comments_url": base + "/comments", "events_url": base + "/events",
		"html_url": fmt.Sprintf("https://example.com/octo-org/hello-world/issues/%d", number),
		"title":    strings.TrimSpace(words(random, 8)), "state": "open", "locked": false, "comments": random.IntN(30),
		"body": "### What happened\n\n" + words(random, 60) + "\n\n```go\nif err != nil {\n\treturn fmt.Errorf(\"read %q: %w\", name, err)\n}\n```\n\n" + words(random, 40) + " – \u2026",
		"user": account(random), "assignee": assignee, "milestone": milestone, "labels": labels,
		"created_at": created, "updated_at": created.Add(3600 * time.Second), "closed_at": nil, "author_association": "CONTRIBUTOR",
		"active_lock_reason": nil, "performed_via_github_app": nil, "state_reason": nil, "timeline_url": base + "/timeline",
		"reactions": map[string]any{"url": base + "/reactions", "total_count": 3, "+1": 2, "-1": 0, "laugh": 0, "hooray": 1, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0},
	}
}

func account(random *rand.Rand) map[string]any {
	login := "user-" + fmt.Sprint(random.IntN(1e5))
	base := "https://api.example.com/users/" + login
	return map[string]any{
		"login": login, "id": random.IntN(1e8), "node_id": "MDQ6VXNlcjE=", "avatar_url": "https://avatars.example.com/u/" + login + "?v=4",
		"gravatar_id": "", "url": base, "html_url": "https://example.com/" + login, "followers_url": base + "/followers",
		"following_url": base + "/following{/other_user}", "gists_url": base + "/gists{/gist_id}", "starred_url": base + "/starred{/owner}{/repo}",
		"repos_url": base + "/repos", "events_url": base + "/events{/privacy}", "type": "User", "site_admin": false,
	}
}

// Charge is what a program decodes of a payment: about half of what the API sends.
type Charge struct {
	ID             string            `json:"id"`
	Amount         int64             `json:"amount"`
	Currency       string            `json:"currency"`
	Customer       string            `json:"customer"`
	Created        int64             `json:"created"`
	Captured       bool              `json:"captured"`
	Paid           bool              `json:"paid"`
	Refunded       bool              `json:"refunded"`
	Status         string            `json:"status"`
	Description    *string           `json:"description"`
	Metadata       map[string]string `json:"metadata"`
	BillingDetails struct {
		Email string `json:"email"`
		Name  string `json:"name"`
	} `json:"billing_details"`
	PaymentMethodDetails struct {
		Type string `json:"type"`
		Card struct {
			Brand    string `json:"brand"`
			Last4    string `json:"last4"`
			ExpMonth int    `json:"exp_month"`
			ExpYear  int    `json:"exp_year"`
		} `json:"card"`
	} `json:"payment_method_details"`
}

// Charges returns a page of payments in an envelope, as an API such as Stripe's
// sends it: some 2 KB each, indented.
func Charges(count int) []byte {
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same page each time
	all := make([]map[string]any, count)
	for i := range all {
		id := string(Random.Append([]byte("ch_"), i))
		amount := 100 + random.IntN(100_000)
		all[i] = map[string]any{
			"id": id, "object": "charge", "amount": amount, "amount_captured": amount, "amount_refunded": 0, "application": nil,
			"application_fee": nil, "application_fee_amount": nil, "balance_transaction": "txn_" + id, "calculated_statement_descriptor": "EXAMPLE",
			"billing_details": map[string]any{
				"address": map[string]any{"city": nil, "country": "DE", "line1": words(random, 3), "line2": nil, "postal_code": "10115", "state": nil},
				"email":   fmt.Sprintf("person.%d@example.com", i), "name": words(random, 2), "phone": nil, "tax_id": nil,
			},
			"captured": true, "created": 1_740_000_000 - i*37, "currency": "eur", "customer": string(Random.Append([]byte("cus_"), i/3)), "description": words(random, 7),
			"disputed": false, "failure_balance_transaction": nil, "failure_code": nil, "failure_message": nil, "fraud_details": map[string]any{},
			"livemode": true, "metadata": map[string]any{"order": fmt.Sprint(random.IntN(1e6)), "channel": "web"},
			"outcome": map[string]any{"network_status": "approved_by_network", "reason": nil, "risk_level": "normal", "risk_score": 32, "seller_message": "Payment complete.", "type": "authorized"},
			"paid":    true, "payment_intent": "pi_" + id, "payment_method": "pm_" + id,
			"payment_method_details": map[string]any{
				"type": "card", "card": map[string]any{
					"amount_authorized": amount, "brand": "visa", "checks": map[string]any{"address_line1_check": nil, "address_postal_code_check": nil, "cvc_check": "pass"},
					"country": "DE", "exp_month": 8, "exp_year": 2028, "fingerprint": "mToisGZ01V71BCos", "funding": "credit", "last4": "4242", "network": "visa", "three_d_secure": nil, "wallet": nil,
				},
			},
			"receipt_email": nil, "receipt_number": nil, "receipt_url": "https://pay.example.com/receipts/payment/" + id + "?s=ap", "refunded": false,
			"shipping": nil, "source_transfer": nil, "statement_descriptor": nil, "status": "succeeded", "transfer_data": nil, "transfer_group": nil,
		}
	}
	indented, err := json.MarshalIndent(map[string]any{"object": "list", "url": "/v1/charges", "has_more": false, "data": all}, "", "  ")
	if err != nil {
		panic(err) // plain values
	}
	return indented
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return text
}

// words returns that many words of a text.
func words(random *rand.Rand, count int) string {
	all := []string{"the", "page", "cursor", "fails", "when", "a", "server", "answers", "twice", "list", "of", "tickets", "\"null\"", "retry", "after", "limit", "<nil>", "and", "in", "über", "handler", "returned", "error", "timeout", "path/to/file"}
	var b strings.Builder
	for n := range count {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(all[random.IntN(len(all))])
	}
	return b.String()
}
