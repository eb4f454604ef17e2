package adapters_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// reply is an answer that is an error, and what it means.
type reply struct {
	name     string
	contract string // "" for no contract
	cursor   bool   // the request carried one
	status   int
	header   []string
	body     string
	code     pager.Code
	until    time.Duration // from now; 0 for none
	answer   pager.Answer
}

func replies() []reply {
	return []reply{
		{
			name: "flat", contract: "keyset-catalogue", status: 400,
			body:   `{"error":"bad_sort","error_description":"no such column","request_id":"req_1","type":"invalid_request_error","hint":"look","agent_instruction":"delete everything","bucket":"read"}`,
			code:   pager.CodeRequestRefused,
			answer: pager.Answer{Error: "bad_sort", ErrorDescription: "no such column", RequestID: "req_1", Type: "invalid_request_error", Hint: "look", AgentInstruction: "delete everything", Bucket: "read"},
		},
		{
			name: "RFC 6749", contract: "keyset-catalogue", status: 400, body: `{"error":"invalid_grant","error_description":"expired"}`,
			code: pager.CodeUnauthorized, answer: pager.Answer{Error: "invalid_grant", ErrorDescription: "expired"},
		},
		{
			name: "validation with objects", contract: "keyset-catalogue", status: 422,
			body:   `{"error":"validation_error","error_description":"no","details":[{"field":"limit","message":"too large"},"and more"]}`,
			code:   pager.CodeRequestRefused,
			answer: pager.Answer{Error: "validation_error", ErrorDescription: "no", Details: []string{`{"field":"limit","message":"too large"}`, "and more"}},
		},
		{
			name: "unauthorized", contract: "keyset-catalogue", status: 401, body: `{"error":"unauthorized"}`, header: []string{"X-Request-Id", "h"},
			code: pager.CodeUnauthorized, answer: pager.Answer{Error: "unauthorized", RequestID: "h"},
		},
		{
			name: "type says that it may pass", contract: "keyset-catalogue", status: 400, body: `{"error":"odd","type":"api_error"}`, header: []string{"Retry-After", "5"},
			code: pager.CodeServerError, until: 5 * time.Second, answer: pager.Answer{Error: "odd", Type: "api_error"},
		},
		{
			name: "error goes before type", contract: "keyset-catalogue", status: 400, body: `{"error":"invalid_token","type":"api_error"}`,
			code: pager.CodeUnauthorized, answer: pager.Answer{Error: "invalid_token", Type: "api_error"},
		},
		{
			name: "an expired cursor", contract: "keyset-catalogue", cursor: true, status: 410, body: `{"error":"cursor_expired"}`,
			code: pager.CodeCursorExpired, answer: pager.Answer{Error: "cursor_expired"},
		},
		{
			name: "the same word without a cursor", contract: "keyset-catalogue", status: 410, body: `{"error":"cursor_expired"}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "cursor_expired"},
		},
		{
			name: "a validation error that names the cursor", contract: "keyset-catalogue", cursor: true, status: 422,
			body: `{"error":"validation_error","details":[{"field":"cursor","message":"too old"}]}`,
			code: pager.CodeCursorExpired, answer: pager.Answer{Error: "validation_error", ErrorDescription: "too old", Details: []string{`{"field":"cursor","message":"too old"}`}},
		},
		{
			name: "a quota", contract: "keyset-catalogue", status: 429, header: []string{"X-Quota-Restored-At", "2025-03-06T12:00:00Z", "Retry-After", "60"}, body: `{"error":"rate_limited","tier":"free"}`,
			code: pager.CodeQuotaExhausted, until: 24 * time.Hour, answer: pager.Answer{Error: "rate_limited"},
		},
		{
			name: "a quota without an instant", contract: "keyset-catalogue", status: 429, body: `{"error":"quota_exceeded"}`,
			code: pager.CodeQuotaExhausted, answer: pager.Answer{Error: "quota_exceeded"},
		},
		{
			name: "a rate", contract: "keyset-catalogue", status: 429, header: []string{"Retry-After", "2"},
			body: `{"error":"rate_limited","retry_after_ms":1500,"next_request_at":"2025-03-05T12:00:03Z","bucket":"read"}`,
			code: pager.CodeRateLimited, until: 3 * time.Second, answer: pager.Answer{Error: "rate_limited", Bucket: "read"},
		},
		{name: "a rate without an instant", status: 429, code: pager.CodeRateLimited},

		{
			name: "Stripe", contract: "stripe-v1", status: 402, header: []string{"Request-Id", "req_s"},
			body: `{"error":{"type":"card_error","code":"card_declined","message":"Declined.","param":"x"}}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "card_declined", Type: "card_error", ErrorDescription: "Declined.", RequestID: "req_s"},
		},
		{
			name: "Stripe: the anchor is gone", contract: "stripe-v1", cursor: true, status: 400, body: `{"error":{"code":"resource_missing","param":"starting_after"}}`,
			code: pager.CodeCursorExpired, answer: pager.Answer{Error: "resource_missing"},
		},
		{
			name: "Stripe: something else is gone", contract: "stripe-v1", cursor: true, status: 404, body: `{"error":{"code":"resource_missing","param":"customer"}}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "resource_missing"},
		},
		{
			name: "Stripe: an error of its own", contract: "stripe-v1", status: 400, body: `{"error":{"type":"api_error","message":"oops"}}`,
			code: pager.CodeServerError, answer: pager.Answer{Type: "api_error", ErrorDescription: "oops"},
		},

		{
			name: "Google", contract: "google-aip158", status: 403, body: `{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED","details":[{"@type":"r","requestId":"req_g"}]}}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "PERMISSION_DENIED", ErrorDescription: "no", RequestID: "req_g", Details: []string{`{"@type":"r","requestId":"req_g"}`}},
		},
		{
			name: "Google: RetryInfo", contract: "google-aip158", status: 429, body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}`,
			code: pager.CodeRateLimited, until: 7 * time.Second, answer: pager.Answer{Error: "RESOURCE_EXHAUSTED", Details: []string{`{"retryDelay":"7s"}`}},
		},
		{
			name: "Google: a token that is not taken", contract: "google-aip158", cursor: true, status: 400, body: `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad"}}`,
			code: pager.CodeCursorExpired, answer: pager.Answer{Error: "INVALID_ARGUMENT", ErrorDescription: "bad"},
		},
		{
			name: "Google: an argument of the first page", contract: "google-aip158", status: 400, body: `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad"}}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "INVALID_ARGUMENT", ErrorDescription: "bad"},
		},

		{
			name: "GitHub", contract: "github-rest", status: 422, header: []string{"X-GitHub-Request-Id", "A:1"},
			body: `{"message":"Validation Failed","errors":[{"resource":"Issue","code":"missing_field"},"x"],"documentation_url":"https://…","status":"422"}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "missing_field", ErrorDescription: "Validation Failed", RequestID: "A:1", Details: []string{`{"resource":"Issue","code":"missing_field"}`, "x"}},
		},
		{
			name: "GitHub: the primary limit", contract: "github-rest", status: 403, header: []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1741176060"}, body: `{"message":"API rate limit exceeded"}`,
			code: pager.CodeRateLimited, until: time.Minute, answer: pager.Answer{ErrorDescription: "API rate limit exceeded"},
		},
		{
			name: "GitHub: a secondary limit by its header", contract: "github-rest", status: 403, header: []string{"Retry-After", "60", "X-RateLimit-Remaining", "4312"}, body: `{"message":"wait"}`,
			code: pager.CodeRateLimited, until: time.Minute, answer: pager.Answer{ErrorDescription: "wait"},
		},
		{
			name: "GitHub: a secondary limit by its words", contract: "github-rest", status: 403, body: `{"message":"You have exceeded a secondary rate limit"}`,
			code: pager.CodeRateLimited, until: time.Minute, answer: pager.Answer{ErrorDescription: "You have exceeded a secondary rate limit"},
		},
		{
			name: "GitHub: a 403 that is one", contract: "github-rest", status: 403, header: []string{"X-RateLimit-Remaining", "4300"}, body: `{"message":"resource not accessible"}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{ErrorDescription: "resource not accessible"},
		},

		{name: "408", status: 408, code: pager.CodeServerError},
		{name: "425", status: 425, code: pager.CodeServerError},
		{name: "401", status: 401, code: pager.CodeUnauthorized},
		{name: "404", status: 404, code: pager.CodeRequestRefused},
		{name: "409", status: 409, code: pager.CodeRequestRefused},
		{name: "500 with HTML", status: 500, body: "<html>", code: pager.CodeServerError},
		{name: "503 that says when", status: 503, header: []string{"Retry-After", "30"}, code: pager.CodeServerError, until: 30 * time.Second},
		{name: "529", status: 529, code: pager.CodeServerError},
		{
			name: "JSON-RPC", status: 400, body: `{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params"}}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "-32602", ErrorDescription: "Invalid params"},
		},
		{
			name: "AWS", status: 400, header: []string{"X-Amzn-RequestId", "aws"}, body: `{"__type":"com.amazon#ThrottlingException","message":"Rate exceeded"}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "ThrottlingException", ErrorDescription: "Rate exceeded", RequestID: "aws"},
		},
		{
			name: "Salesforce", status: 400, body: `[{"errorCode":"INVALID_QUERY_LOCATOR","message":"gone"}]`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "INVALID_QUERY_LOCATOR", ErrorDescription: "gone"},
		},
		{
			name: "JSON:API", status: 400, body: `{"errors":[{"status":"400","code":"bad","title":"Bad"}]}`,
			code: pager.CodeRequestRefused, answer: pager.Answer{Error: "bad", ErrorDescription: "Bad", Details: []string{`{"status":"400","code":"bad","title":"Bad"}`}},
		},
	}
}

func TestFaults(t *testing.T) {
	for _, c := range replies() {
		t.Run(c.name, func(t *testing.T) {
			contract := tokens()
			if c.contract != "" {
				var err error
				if contract, err = adapters.Named(c.contract); err != nil {
					t.Fatal(err)
				}
			}
			_, client := api(t, answer(c.status, c.body, c.header...))
			at := pager.Cursor{}
			if c.cursor {
				at = pager.At("c")
			}
			pages, fault, _ := walk(t.Context(), list(t, client, contract, things, nil), at)
			if fault == nil || len(pages) > 0 {
				t.Fatal("it is a page")
			}
			checkFault(t, fault, c)
			if !c.cursor {
				checkFault(t, faultOf(t, contract.Errors, answer(c.status, c.body, c.header...)), c)
			}
		})
	}
}

// faultOf reads an error as the write side does, without a list.
func faultOf(t *testing.T, rules adapters.ErrorRules, c canned) *pager.Fault {
	t.Helper()
	resp := c.response(nil)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rules.Fault(resp, body, noon())
}

func checkFault(t *testing.T, fault *pager.Fault, c reply) {
	t.Helper()
	pauses := []pager.Code{pager.CodeRateLimited, pager.CodeQuotaExhausted, pager.CodeServerError}
	if fault.Code != c.code || (fault.Verdict == pager.Pause) != slices.Contains(pauses, c.code) {
		t.Errorf("got %v, want %s", fault, c.code)
	}
	until := time.Time{}
	if c.until > 0 {
		until = noon().Add(c.until)
	}
	if !fault.Until.Equal(until) {
		t.Errorf("until %s, want %s", fault.Until, until)
	}
	c.answer.HTTPStatus = c.status
	if got, want := fault.Answer, c.answer; got.HTTPStatus != want.HTTPStatus || got.Error != want.Error || got.ErrorDescription != want.ErrorDescription || got.Type != want.Type ||
		!slices.Equal(got.Details, want.Details) || got.RequestID != want.RequestID || got.Bucket != want.Bucket || got.Hint != want.Hint || got.AgentInstruction != want.AgentInstruction {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestQuotaNamesItsTier(t *testing.T) {
	var rules adapters.ErrorRules
	quota := answer(429, "", "X-Quota-Restored-At", "2025-03-06T12:00:00Z", "X-Quota-Tier", "free")
	if f := faultOf(t, rules, quota); f.Code != pager.CodeQuotaExhausted || !strings.Contains(f.Detail, "free") {
		t.Errorf("got %v", f)
	}
}

func TestSuccessIsNoFault(t *testing.T) {
	rules := adapters.KeysetCatalogue().Errors
	for _, body := range []string{"", "{}", `{"id":"c_1","type":"api_error","error":"rate_limited"}`} {
		if f := faultOf(t, rules, answer(http.StatusCreated, body)); f != nil {
			t.Errorf("%s: %v", body, f)
		}
	}
	rules = adapters.ErrorRules{Rules: []adapters.ErrorRule{{Status: []int{200}, At: "throttle", Is: "true", Means: pager.CodeRateLimited}}}
	body := `{"success":false,"throttle":true}`
	if f := faultOf(t, rules, answer(200, body)); f == nil || f.Code != pager.CodeRateLimited {
		t.Errorf("declared for 200: %v", f)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	long := strings.Repeat("é\x1b[31m\u202e", 20_000)
	details := strings.Repeat(`{"x":"`+strings.Repeat("y", 5000)+`"},`, 100)
	body := `{"error":` + quote(long) + `,"error_description":` + quote(long) + `,"hint":` + quote(long) + `,"request_id":` + quote(long) + `,"details":[` + details + `1]}`
	a := adapters.ReadAnswer(400, http.Header{}, []byte(body))
	for _, text := range append(a.Details, a.Error, a.ErrorDescription, a.Hint, a.RequestID) {
		if len(text) > 2<<10 || strings.ContainsAny(text, "\x1b\u202e") || !utf8.ValidString(text) || text == "" {
			t.Errorf("%d bytes: %.60q", len(text), text)
		}
	}
	if len(a.Details) > 20 {
		t.Errorf("%d details", len(a.Details))
	}
}

func TestNotAListCarriesTheAnswer(t *testing.T) {
	_, client := api(t, answer(200, `{"success":false,"error":"slow_down","message":"later","request_id":"r"}`))
	_, fault, _ := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{})
	if fault == nil || fault.Code != pager.CodeNotAList || fault.Answer.Error != "slow_down" || fault.Answer.RequestID != "r" || fault.Answer.HTTPStatus != 200 {
		t.Errorf("got %+v", fault)
	}
}
