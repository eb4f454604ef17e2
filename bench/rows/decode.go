package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/pager"
)

const cpuPerPage = "cpu µs/page"

// decodePages is how often the page is read in one turn.
const decodePages = 300

// DecodeArray compares reading a page through a contract with json.Unmarshal,
// for a body that is the array of its items.
func DecodeArray() measure.Family {
	return decodes("array", "issues of some 3 KB, the body is the array", adapters.GitHubREST(), workload.Issues(workload.PageSize),
		func(body []byte) (int, error) {
			var items []workload.Issue
			err := json.Unmarshal(body, &items)
			return len(items), err
		}, readPage[workload.Issue])
}

// DecodeObject compares the same for a body that holds its items in an envelope.
func DecodeObject() measure.Family {
	return decodes("object", "payments of some 2 KB, indented, in an envelope", adapters.StripeV1(), workload.Charges(workload.PageSize),
		func(body []byte) (int, error) {
			var page struct {
				Data    []workload.Charge `json:"data"`
				HasMore bool              `json:"has_more"`
			}
			err := json.Unmarshal(body, &page)
			return len(page.Data), err
		}, readPage[workload.Charge])
}

func decodes(name, what string, contract adapters.Contract, body []byte, plain func([]byte) (int, error), through func(context.Context, adapters.Contract, []byte) (func() (int, error), error)) measure.Family {
	return measure.Family{
		Name:  "decode/" + name,
		Work:  fmt.Sprintf("a page of %d %s; %s bytes", workload.PageSize, what, thousands(len(body))),
		Title: "Reading a page",
		Means: "A contract checks a page, finds its items, their IDs and times, the next cursor and the end, keeps each item's bytes, and decodes each item. The request through net/http's client is included, with a transport that answers from memory.",
		Sides: []measure.Side{
			{Name: "contract", Run: func(ctx context.Context) (measure.Sample, error) {
				read, err := through(ctx, contract, body)
				if err != nil {
					return nil, err
				}
				return repeat(read)
			}},
			{Name: "unmarshal", Run: func(context.Context) (measure.Sample, error) {
				return repeat(func() (int, error) { return plain(body) })
			}},
		},
		Rows: []measure.Row{{
			Name: "processor time of a page read through a contract, against json.Unmarshal of it: " + what,
			Of:   measure.Ratio("contract", "unmarshal", cpuPerPage), Unit: "×", Bar: measure.AtMost(1.5),
			Beside: []measure.Absolute{{Side: "contract", Metric: cpuPerPage, Unit: "µs a page"}, {Side: "unmarshal", Metric: cpuPerPage, Unit: "µs a page"}},
		}},
	}
}

// repeat reads a page again and again, and measures the processor's time, what
// the garbage costs included.
func repeat(read func() (int, error)) (measure.Sample, error) {
	runtime.GC()
	from := usage()
	for range decodePages {
		n, err := read()
		if err != nil {
			return nil, err
		}
		if n != workload.PageSize {
			return nil, fmt.Errorf("%d items were read", n)
		}
	}
	runtime.GC()
	spent := cpu(usage()) - cpu(from)
	return measure.Sample{cpuPerPage: float64(spent) / float64(time.Microsecond) / decodePages}, nil
}

// readPage reads pages through a contract, with net/http's client and a transport
// that answers from memory.
func readPage[T any](ctx context.Context, contract adapters.Contract, body []byte) (func() (int, error), error) {
	client := &adapters.Client{HTTP: &http.Client{Transport: answering(body)}}
	list, err := adapters.List[T](client, contract, "https://api.example.com/list", nil)
	if err != nil {
		return nil, err
	}
	return func() (int, error) {
		for page, err := range list.Pages(ctx, pager.Cursor{}) {
			return len(page.Items), err
		}
		return 0, nil
	}, nil
}

// answering answers each request with the same body.
type answering []byte

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header:        http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		ContentLength: int64(len(a)), Body: io.NopCloser(bytes.NewReader(a)),
	}, nil
}
