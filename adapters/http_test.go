package adapters_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// tokens is a contract of the plainest kind: items, and next until it is null or
// absent.
func tokens() adapters.Contract {
	return adapters.Contract{
		Name:    "tokens",
		Request: adapters.Request{Size: adapters.Size{In: "query:limit"}, Cursor: adapters.CursorRule{In: "query:cursor"}},
		Items:   adapters.Items{At: "items", ID: []adapters.Path{"id"}},
		Next:    adapters.Next{From: "body:next"},
		End:     adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent", "null"}},
	}
}

const things = "https://api.example.test/v1/things"

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // a buffer does not fail
	_ = w.Close()
	return b.String()
}

func TestBodies(t *testing.T) {
	const one = `{"items":[{"id":"a"}],"next":null}`
	for _, c := range []struct {
		name    string
		answer  canned
		ids     string
		code    pager.Code
		verdict pager.Verdict
		detail  string
	}{
		{"plain", answer(200, one), "a", "", 0, ""},
		{"206 with a list", answer(206, one), "a", "", 0, ""},
		{"a byte-order mark", answer(200, "\ufeff"+one), "a", "", 0, ""},
		{"white space around it", answer(200, " \r\n"+one+"\n "), "a", "", 0, ""},
		{"gzip that nobody unpacked", answer(200, packed(one), "Content-Encoding", "gzip"), "a", "", 0, ""},
		{"gzip in name only", answer(200, one, "Content-Encoding", "gzip"), "", pager.CodeNotAList, pager.Review, "gzip"},
		{"gzip cut short", answer(200, packed(one)[:30], "Content-Encoding", "gzip"), "", pager.CodeTransport, pager.Pause, "cut short"},
		{"a coding that nobody asked for", answer(200, one, "Content-Encoding", "br"), "", pager.CodeNotAList, pager.Review, "br"},
		{"cut short", cutShort(200, `{"items":[{"id":"a"}`), "", pager.CodeTransport, pager.Pause, "cut short"},
		{"cut short after whole JSON", cutShort(200, one), "", pager.CodeTransport, pager.Pause, "cut short"},
		{"cut where only the connection's end ends it", openEnded(`{"items":[{"id":"a"}`), "", pager.CodeTransport, pager.Pause, "cut short"},
		{"half a JSON, whole by its length", answer(200, `{"items":[{"id":"a"}`), "", pager.CodeNotAList, pager.Review, "no JSON"},
		{"HTML", answer(200, "<!doctype html><title>Sign in</title>", "Content-Type", "text/html"), "", pager.CodeNotAList, pager.Review, "HTML"},
		{"nothing", answer(200, ""), "", pager.CodeNotAList, pager.Review, "empty"},
		{"two values", answer(200, one+one), "", pager.CodeNotAList, pager.Review, "no JSON"},
		{"a word", answer(200, "ok"), "", pager.CodeNotAList, pager.Review, "no JSON"},
		{"no object", answer(200, `"ok"`), "", pager.CodeNotAList, pager.Review, "items is absent"},
		{"nested 100,000 deep", answer(200, `{"items":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+"}"), "", pager.CodeNotAList, pager.Review, "no JSON"},
		{"over the limit, as it says", answer(200, `{"items":[{"id":"`+strings.Repeat("x", 5000)+`"}]}`), "", pager.CodeBodyTooLarge, pager.Review, "4096"},
		{"over the limit, unsaid", openEnded(`{"items":[{"id":"` + strings.Repeat("x", 5000) + `"}]}`), "", pager.CodeBodyTooLarge, pager.Review, "4096"},
		{"over the limit when unpacked", answer(200, packed(`{"items":[{"id":"`+strings.Repeat("x", 100_000)+`"}]}`), "Content-Encoding", "gzip"), "", pager.CodeBodyTooLarge, pager.Review, "4096"},
		{"204", answer(204, ""), "", pager.CodeNotAList, pager.Review, "204"},
		{"202", answer(202, `{"message":"Index not yet available"}`), "", pager.CodeNotAList, pager.Review, "202"},
		{"304", answer(304, ""), "", pager.CodeRequestRefused, pager.Review, "304"},
		{"an error whose body is cut", cutShort(503, ""), "", pager.CodeServerError, pager.Pause, "503"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, c.answer)
			if c.detail == "4096" {
				client.BodyLimit = 4096
			}
			pages, fault, err := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{})
			if c.code == "" {
				if err != nil || ids(pages...) != c.ids {
					t.Errorf("got %q, %v", ids(pages...), err)
				}
				return
			}
			if fault == nil || fault.Code != c.code || fault.Verdict != c.verdict || !strings.Contains(fault.Error(), c.detail) {
				t.Errorf("got %v, want %s with %q", err, c.code, c.detail)
			}
		})
	}
}

func TestGzipOnTheWire(t *testing.T) {
	server, _, client := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, packed(`{"items":[{"id":"a"}]}`))
	})
	p := list(t, client, tokens(), server.URL, &adapters.Options{Header: http.Header{"Accept-Encoding": {"br, deflate"}}})
	if pages, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil || ids(pages...) != "a" {
		t.Errorf("got %v", err)
	}
}

func TestCursorsGoBackAsTheyCame(t *testing.T) {
	long := strings.Repeat("QkFTRTY0", 1125)
	for _, cursor := range []string{"AgA+Bgg4/MTU==", "a&b=c%2B d#eé✓", long, "1909699624467843945", "+", "%", "日本", "\u0000\n\t"} {
		for _, post := range []bool{false, true} {
			contract := tokens()
			if post {
				contract.Request.Method = http.MethodPost
				contract.Request.Cursor.In = "body:params.cursor"
				contract.Request.Body = map[string]any{"jsonrpc": "2.0", "params": map[string]any{"n": 1}}
			}
			got := ""
			server, tr, client := served(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					body, _ := io.ReadAll(r.Body)
					got = string(body)
				} else {
					got = r.URL.Query().Get("cursor")
				}
				fmt.Fprint(w, `{"items":[]}`)
			})
			p := list(t, client, contract, server.URL+"/x?a=%2b+%20&b", nil)
			if _, _, err := walk(t.Context(), p, pager.At(cursor)); err != nil {
				t.Fatal(err)
			}
			want := cursor
			if post {
				want = fmt.Sprintf(`{"jsonrpc":"2.0","params":{"cursor":%s,"n":1}}`, quote(cursor))
			}
			if got != want {
				t.Errorf("sent %q, the API saw %q", want, got)
			}
			if !strings.Contains(tr.seen[0].url, "?a=%2b+%20&b") {
				t.Errorf("the caller's own parameters were changed: %s", tr.seen[0].url)
			}
		}
	}
}

func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string is JSON
	return strings.TrimSpace(b.String())
}

func TestCursorValues(t *testing.T) {
	for _, c := range []struct {
		name string
		next string // the JSON value of the member, "" for none
		when []string
		also []string
		end  pager.End
		to   pager.Cursor
	}{
		{"a string", `"c"`, []string{"absent"}, nil, pager.EndMore, pager.At("c")},
		{"a number, digit for digit", `1909699624467843945`, []string{"absent"}, nil, pager.EndMore, pager.At("1909699624467843945")},
		{"a number in another form", `1.50e3`, []string{"absent"}, nil, pager.EndMore, pager.At("1.50e3")},
		{"a string with escapes", `"a\u002fb\/c\ud83d\ude00"`, []string{"absent"}, nil, pager.EndMore, pager.At("a/b/c😀")},
		{"absent, declared", "", []string{"absent"}, nil, pager.EndLast, pager.Cursor{}},
		{"absent, not declared", "", []string{"null"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"null, declared", "null", []string{"null"}, nil, pager.EndLast, pager.Cursor{}},
		{"null, not declared", "null", []string{"absent"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"empty, declared as the end", `""`, []string{"empty"}, nil, pager.EndLast, pager.Cursor{}},
		{"empty, declared as a cursor", `""`, []string{"absent"}, []string{"empty"}, pager.EndMore, pager.At("")},
		{"empty, not declared", `""`, []string{"absent", "null"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"0, declared as the end", `0`, []string{"zero"}, nil, pager.EndLast, pager.Cursor{}},
		{"0, declared as a cursor", `0`, []string{"absent"}, []string{"zero"}, pager.EndMore, pager.At("0")},
		{"0, not declared", `0`, []string{"absent", "null", "empty", "false"}, nil, pager.EndUnknown, pager.Cursor{}},
		{`"0" is a string`, `"0"`, []string{"zero"}, nil, pager.EndMore, pager.At("0")},
		{"false, declared as the end", `false`, []string{"false"}, nil, pager.EndLast, pager.Cursor{}},
		{"false, not declared", `false`, []string{"absent", "null", "empty", "zero"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"true", `true`, []string{"absent"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"an object", `{"a":1}`, []string{"absent"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"half a surrogate pair", `"\ud800"`, []string{"absent"}, nil, pager.EndUnknown, pager.Cursor{}},
		{"no UTF-8", "\"\xff\"", []string{"absent"}, nil, pager.EndUnknown, pager.Cursor{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"items":[]}`
			if c.next != "" {
				body = `{"items":[],"next":` + c.next + `}`
			}
			contract := tokens()
			contract.End.When, contract.Next.Cursors = c.when, c.also
			_, client := api(t, answer(200, body))
			for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), pager.Cursor{}) {
				if err != nil || page.End != c.end || page.Next != c.to || page.Evidence == "" {
					t.Errorf("got %s, %s by %q, %v", page.End, page.Next, page.Evidence, err)
				}
				break
			}
		})
	}
}

func TestStops(t *testing.T) {
	t.Run("before the request", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tr, client := api(t)
		_, fault, err := walk(ctx, list(t, client, tokens(), things, nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || !errors.Is(err, context.Canceled) || len(tr.seen) != 0 {
			t.Errorf("got %v after %d requests", err, len(tr.seen))
		}
	})
	t.Run("while the body comes", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server, _, client := served(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"items":[`)
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
		})
		_, fault, err := walk(ctx, list(t, client, tokens(), server.URL, nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an answer that does not come", func(t *testing.T) {
		server, _, client := served(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		client.Timeout = 20 * time.Millisecond
		_, fault, err := walk(t.Context(), list(t, client, tokens(), server.URL, nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || fault.Code != pager.CodeTransport || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v; it is not the caller's deadline", err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		server, _, client := served(t, nil)
		server.Close()
		_, fault, err := walk(t.Context(), list(t, client, tokens(), server.URL+"/?api_key=s3cret", nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || fault.Code != pager.CodeTransport || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("by the hook", func(t *testing.T) {
		tr, client := api(t)
		client.Before = func(*http.Request) error { return errors.New("no token") }
		_, fault, _ := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{})
		if fault == nil || fault.Code != pager.CodePagerFailed || len(tr.seen) != 0 {
			t.Errorf("got %v", fault)
		}
	})
}

func TestLimitsAreShared(t *testing.T) {
	limited := answer(429, `{"error":"rate_limited"}`, "Retry-After", "60")
	fine := answer(200, `{"items":[]}`)
	tr, client := api(t, limited, fine, fine)
	at := noon()
	client.Now = func() time.Time { return at }
	mine := &adapters.Options{Header: http.Header{"Authorization": {"Bearer mine"}}}
	read := func(path string, options *adapters.Options) *pager.Fault {
		_, fault, _ := walk(t.Context(), list(t, client, tokens(), "https://api.example.test"+path, options), pager.Cursor{})
		return fault
	}
	if f := read("/a", mine); f == nil || f.Code != pager.CodeRateLimited || !f.Until.Equal(at.Add(time.Minute)) {
		t.Fatalf("got %v", f)
	}
	if f := read("/b", mine); f == nil || !f.Until.Equal(at.Add(time.Minute)) || len(tr.seen) != 1 {
		t.Errorf("with the same credentials: %v after %d requests", f, len(tr.seen))
	}
	if f := read("/b", nil); f != nil || len(tr.seen) != 2 {
		t.Errorf("with other credentials: %v", f)
	}
	at = at.Add(time.Minute)
	if f := read("/b", mine); f != nil || len(tr.seen) != 3 {
		t.Errorf("at the instant: %v", f)
	}
	tr.script = append(tr.script, limited, fine)
	if f := read("/a", mine); f == nil {
		t.Error("a second limit is no limit")
	}
	client.ForgetLimits()
	if f := read("/a", mine); f != nil {
		t.Errorf("after forgetting: %v", f)
	}
}

func TestOnePagerManyWalks(t *testing.T) {
	server, _, client := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			fmt.Fprint(w, `{"items":[{"id":"a"}],"next":"c"}`)
			return
		}
		fmt.Fprint(w, `{"items":[{"id":"b"}]}`)
	})
	p := list(t, client, tokens(), server.URL, nil)
	var walks sync.WaitGroup
	for range 8 {
		walks.Go(func() {
			for range 5 {
				if pages, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil || ids(pages...) != "a b" {
					t.Errorf("got %q, %v", ids(pages...), err)
				}
			}
		})
	}
	walks.Wait()
}

func TestNothingIsFetchedBeforeTheFirstRange(t *testing.T) {
	tr, client := api(t, answer(200, `{"items":[],"next":"c"}`))
	pages := list(t, client, tokens(), things, nil).Pages(t.Context(), pager.Cursor{})
	if len(tr.seen) != 0 {
		t.Error("a request before anybody ranged")
	}
	for _, err := range pages {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if len(tr.seen) != 1 {
		t.Errorf("%d requests for one page", len(tr.seen))
	}
}

func TestLog(t *testing.T) {
	var lines bytes.Buffer
	_, client := api(t, answer(200, `{"items":[],"next":"c"}`, "X-Request-Id", "req_1"), answer(500, ``, "X-Request-Id", "req_2\x1b[31m"))
	client.Logger = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	_, _, _ = walk(t.Context(), list(t, client, tokens(), things+"?api_key=s3cret", &adapters.Options{Header: http.Header{"Authorization": {"s3cret"}}}), pager.Cursor{})
	for _, want := range []string{"level=DEBUG", "request_id=req_1", "level=WARN", "request_id=req_2", "code=server_error", "status=500", "contract=tokens"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("no %s in\n%s", want, lines.String())
		}
	}
	if strings.Contains(lines.String(), "s3cret") || strings.Contains(lines.String(), "\x1b") {
		t.Errorf("the log shows what it must not:\n%s", lines.String())
	}
}
