package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v84/github"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// errLeftHost is a redirect that leads to another host.
var errLeftHost = errors.New("a redirect leads to another host")

// stayOnHost is a CheckRedirect. go-github puts its token into every request,
// also into one that follows a redirect: off the host it must not be made.
func stayOnHost(req *http.Request, via []*http.Request) error {
	if home := via[0].URL; req.URL.Scheme != home.Scheme || req.URL.Host != home.Host {
		return errLeftHost
	}
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	return nil
}

// fault says what an error of go-github means for a run. What it does not name
// stays as it is: the engine knows a broken transfer and a cancelled context by
// their own types, and asks a person about all else.
func fault(err error, home *url.URL) error {
	// A limit's own instant, or none: then the run waits as long as its engine
	// chooses. The limit's response may be one that go-github made up, for a call
	// that it did not make because it remembers the limit.
	if e, ok := errors.AsType[*github.RateLimitError](err); ok {
		return &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeRateLimited, Detail: e.Message,
			Until: e.Rate.Reset.Time, Answer: answer(e.Response, e.Message), Err: err,
		}
	}
	// go-github reads Retry-After as a whole number of seconds, and as 0 where it
	// is none. Without an instant GitHub's documents ask for at least a minute
	// ("Rate limits for the REST API", secondary rate limits).
	if e, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		wait := e.GetRetryAfter()
		if wait <= 0 {
			wait = time.Minute
		}
		return &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeRateLimited, Detail: e.Message,
			Until: everypage.SystemClock{}.Now().Add(wait), Answer: answer(e.Response, e.Message), Err: err,
		}
	}
	// The other refusals are read by the rules of the contract for this API. It
	// also finds limits that go-github takes for plain refusals.
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok {
		body, readErr := io.ReadAll(e.Response.Body) // go-github has put the body back
		if readErr != nil {
			return fmt.Errorf("go-github: %w", err)
		}
		rules := adapters.GitHubREST().Errors
		if f := rules.Fault(e.Response, body, everypage.SystemClock{}.Now()); f != nil {
			f.Err = err
			return f
		}
	}
	if errors.Is(err, errLeftHost) {
		return &pager.Fault{Code: pager.CodeCrossOrigin, Detail: "a redirect leads away from " + home.Host + "; it was not followed"}
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	if syntax || kind {
		return &pager.Fault{Code: pager.CodeNotAList, Detail: "the answer is no list of issues", Err: err}
	}
	return fmt.Errorf("go-github: %w", err)
}

func answer(r *http.Response, message string) pager.Answer {
	return pager.Answer{HTTPStatus: r.StatusCode, RequestID: requestID(r), ErrorDescription: message}
}
