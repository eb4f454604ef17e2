package adapters

import (
	"bytes"
	"errors"
	"mime"
)

// lastMessage returns the last message of an event stream (WHATWG HTML, "Server-sent
// events"), and any other body as it is. MCP servers answer a POST with such a
// stream: notifications, if any, and then the response.
func lastMessage(contentType string, body []byte) ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != "text/event-stream" {
		return body, nil
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	var last []byte
	for event := range bytes.SplitSeq(bytes.ReplaceAll(body, []byte("\r"), []byte("\n")), []byte("\n\n")) {
		var data [][]byte
		for line := range bytes.SplitSeq(event, []byte("\n")) {
			if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(text, []byte(" ")))
			}
		}
		if len(data) > 0 {
			last = bytes.Join(data, []byte("\n"))
		}
	}
	if last == nil {
		return nil, errors.New("its event stream has no message")
	}
	return last, nil
}
