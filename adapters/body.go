package adapters

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"

	"github.com/everypage-go/everypage/pager"
)

// parse reads the body of an answer that should be a list page.
func (c *Contract) parse(a answer, at pager.Cursor) (value, *pager.Fault) {
	encoding := charset(a.header.Get("Content-Type"))
	text, err := toUTF8(stripBOM(a.body), encoding)
	if err != nil {
		f := unreadable(a, err)
		f.Detail = "the answer cannot be read: " + err.Error()
		return value{}, f
	}
	if !c.isXML() {
		if text, err = lastMessage(a.header.Get("Content-Type"), text); err != nil {
			return value{}, notJSON(a, err)
		}
		body, err := parseOutlined(text, c.lookedAt())
		if err != nil {
			return value{}, notJSON(a, err)
		}
		return body, nil
	}
	root, body, err := parseXML(text, &c.XML, encoding != "")
	if err != nil {
		return value{}, notXML(a, err)
	}
	if root != c.XML.Root {
		f := c.Errors.fault(reply{status: a.status, header: a.header, envelope: envelopeOf(body), withCursor: !at.IsStart(), now: a.now, noPage: true})
		if f.Code == pager.CodeNotAList {
			f.Detail = fmt.Sprintf("the answer is no list page of %s: its root element is %s, and a page has %s", c.Name, quoted(root), c.XML.Root)
		}
		return value{}, f
	}
	return body, nil
}

// unreadable is the fault of a page whose body is not what it should be.
func unreadable(a answer, err error) *pager.Fault {
	f := &pager.Fault{Code: pager.CodeNotAList, Err: err}
	f.Answer.HTTPStatus, f.Answer.RequestID = a.status, RequestID(a.header)
	return f
}

// notJSON is the fault of a page whose body is no JSON.
func notJSON(a answer, err error) *pager.Fault {
	f := unreadable(a, err)
	text := bytes.TrimSpace(stripBOM(a.body))
	var syntax *json.SyntaxError
	cut := errors.As(err, &syntax) && syntax.Offset >= int64(len(text)) && len(text) > 0 && (text[0] == '{' || text[0] == '[')
	switch {
	case cut && a.openEnded:
		f.Verdict, f.Code, f.Detail = pager.Pause, pager.CodeTransport, "the answer was cut short"
	case len(text) == 0:
		f.Detail = "the answer is empty"
	case text[0] == '<':
		f.Detail = "the answer is a page of HTML or XML and no JSON"
	default:
		f.Detail = "the answer is no JSON"
	}
	return withMediaType(f, a)
}

// notXML is the fault of a page whose body is no XML.
func notXML(a answer, err error) *pager.Fault {
	f := unreadable(a, err)
	text := bytes.TrimSpace(stripBOM(a.body))
	var syntax *xml.SyntaxError
	var refused xmlError
	cut := errors.As(err, &syntax) && syntax.Msg == "unexpected EOF" && len(text) > 0 && text[0] == '<'
	switch {
	case cut && a.openEnded:
		f.Verdict, f.Code, f.Detail = pager.Pause, pager.CodeTransport, "the answer was cut short"
	case len(text) == 0:
		f.Detail = "the answer is empty"
	case errors.As(err, &refused):
		f.Detail = "the answer is XML that is not read"
	case text[0] != '<':
		f.Detail = "the answer is no XML"
	default:
		f.Detail = "the answer is no well-formed XML"
	}
	return withMediaType(f, a)
}

func withMediaType(f *pager.Fault, a answer) *pager.Fault {
	if mediaType := a.header.Get("Content-Type"); mediaType != "" {
		f.Detail += " (Content-Type " + clean(mediaType, 100) + ")"
	}
	return f
}

func stripBOM(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }
