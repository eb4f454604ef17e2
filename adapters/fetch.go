package adapters

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// errorBodyLimit is as much as is read of an answer that is no page.
const errorBodyLimit = 1 << 20

// answer is one answer, read and closed.
type answer struct {
	status int
	header http.Header
	body   []byte
	base   *url.URL // that answered, after redirects
	now    time.Time
	// openEnded says that nothing but the end of the connection ended the body,
	// so that a cut cannot be told from an end.
	openEnded bool
}

// fetch reads the page at a cursor.
func (l *list) fetch(ctx context.Context, at pager.Cursor) (page, error) {
	sealed := l.contract.constants()
	at, first, err := unseal(at, len(sealed))
	if err != nil {
		f := &pager.Fault{Code: pager.CodePagerFailed, Detail: "the request cannot be built", Err: err}
		l.warn(ctx, f, nil)
		return page{}, f
	}
	req, guest, f := l.request(ctx, at)
	if f == nil {
		f = l.admit(ctx, req, guest)
	}
	if f != nil {
		l.warn(ctx, f, req)
		return page{}, f
	}
	a, f := l.exchange(ctx, req)
	if f == nil {
		l.client.logger().LogAttrs(ctx, slog.LevelDebug, "list page answered",
			slog.String("contract", l.contract.Name), slog.String("method", req.Method),
			slog.String("url", pager.RedactURL(req.URL.String())), slog.Int("status", a.status),
			slog.String("request_id", RequestID(a.header)), slog.Int("bytes", len(a.body)))
		var p page
		if p, f = l.judge(a, at); f == nil {
			p.keepConstant(sealed, first, p.body)
			if !guest {
				l.client.pace(l.key, p.meta.Limit, a.now)
			}
			return p, nil
		}
		if !guest {
			l.client.close(l.key, f, a.now)
		}
	}
	l.warn(ctx, f, req)
	return page{}, f
}

// admit is what stands before a request: the caller's context, a limit that is
// known, and the caller's own hook.
func (l *list) admit(ctx context.Context, req *http.Request, guest bool) *pager.Fault {
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if !guest {
		if f := l.client.closedUntil(l.key, l.client.now()); f != nil {
			return f
		}
	}
	if f := l.client.limited(ctx); f != nil {
		return f
	}
	if guest || l.client.Before == nil {
		return nil
	}
	err := l.client.Before(req)
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*pager.Fault](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	return &pager.Fault{Code: pager.CodePagerFailed, Detail: "the hook before the request failed", Err: err}
}

// stopped is the fault of a caller that no longer waits.
func stopped(ctx context.Context) *pager.Fault {
	return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport, Detail: "the caller stopped the request", Err: ctx.Err()}
}

// exchange sends a request and reads the answer.
func (l *list) exchange(ctx context.Context, req *http.Request) (answer, *pager.Fault) {
	timeout := l.client.timeout()
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := l.http.Do(req.WithContext(bounded)) //nolint:gosec // the address was checked against the list's origin
	if err != nil {
		return answer{}, transport(ctx, bounded, "the request failed", timeout, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, base: resp.Request.URL, now: l.client.now()}
	a.openEnded = resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1 && !resp.Uncompressed
	if !slices.Contains(l.contract.Page.statuses(), a.status) {
		// The status has said what matters; a cut body adds nothing.
		reader, _ := unpacked(resp)
		a.body, _ = io.ReadAll(io.LimitReader(reader, errorBodyLimit))
		return a, nil
	}
	var f *pager.Fault
	if a.body, f = readBody(resp, l.client.bodyLimit(&l.contract)); f != nil {
		f.Answer.HTTPStatus, f.Answer.RequestID = a.status, RequestID(a.header)
		if f.Err != nil && f.Code == pager.CodeTransport {
			answered := f.Answer
			f = transport(ctx, bounded, f.Detail, timeout, f.Err)
			f.Answer = answered
		}
		return answer{}, f
	}
	return a, nil
}

// transport is the fault of an exchange that failed on its way.
func transport(ctx, bounded context.Context, detail string, timeout time.Duration, err error) *pager.Fault {
	if f, ok := errors.AsType[*pager.Fault](err); ok { // from the redirect check
		return f
	}
	switch {
	case ctx.Err() != nil:
		return stopped(ctx)
	case bounded.Err() != nil:
		// Not the caller's deadline, and so nothing that unwraps to one.
		err = fmt.Errorf("no whole answer within %s", timeout)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok { // its text holds the whole URL
		err = outer.Err
	}
	return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport, Detail: detail, Err: err}
}

// readBody reads a page's body within the limit.
func readBody(resp *http.Response, limit int64) ([]byte, *pager.Fault) {
	large := &pager.Fault{Code: pager.CodeBodyTooLarge, Detail: fmt.Sprintf("the answer has more than %d bytes; a higher limit can be set", limit)}
	if resp.ContentLength > limit {
		return nil, large
	}
	reader, err := unpacked(resp)
	if err != nil {
		return nil, &pager.Fault{Code: pager.CodeNotAList, Detail: err.Error()}
	}
	var b bytes.Buffer
	if resp.ContentLength > 0 {
		b.Grow(int(min(resp.ContentLength, limit)) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(reader, limit+1))
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return nil, &pager.Fault{Code: pager.CodeNotAList, Detail: "the answer says that it is gzip, and is not", Err: err}
	case err != nil:
		return nil, &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport, Detail: "the answer was cut short", Err: err}
	case n > limit:
		return nil, large
	}
	return b.Bytes(), nil
}

// unpacked returns the body without its content coding. net/http unpacks gzip by
// itself as long as nobody else sets Accept-Encoding; a transport that was told
// not to, or a server that compresses unasked, leaves it to us.
func unpacked(resp *http.Response) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return &gunzip{packed: resp.Body}, nil
	default:
		return resp.Body, fmt.Errorf("the answer is coded as %s, which was not asked for", quoted(coding))
	}
}

// gunzip unpacks as it reads, so that an empty body is no error.
type gunzip struct {
	packed io.Reader
	plain  *gzip.Reader
}

// Read unpacks into p.
func (g *gunzip) Read(p []byte) (int, error) {
	if g.plain == nil {
		var err error
		if g.plain, err = gzip.NewReader(g.packed); err != nil {
			return 0, err
		}
	}
	return g.plain.Read(p)
}

// warn logs a fault.
func (l *list) warn(ctx context.Context, f *pager.Fault, req *http.Request) {
	attrs := []slog.Attr{
		slog.String("contract", l.contract.Name), slog.String("code", string(f.Code)),
		slog.Bool("pause", f.Verdict == pager.Pause), slog.String("detail", f.Detail),
		slog.Int("status", f.Answer.HTTPStatus), slog.String("request_id", f.Answer.RequestID),
	}
	if req != nil {
		attrs = append(attrs, slog.String("method", req.Method), slog.String("url", pager.RedactURL(req.URL.String())))
	}
	if !f.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", f.Until))
	}
	if f.Err != nil {
		attrs = append(attrs, slog.String("error", clean(f.Err.Error(), textLimit)))
	}
	l.client.logger().LogAttrs(ctx, slog.LevelWarn, "list page failed", attrs...)
}
