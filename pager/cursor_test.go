package pager_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// The start of a list is not the empty token: one is no cursor at all, and the
// other is one that some APIs do issue.
func TestCursor_StartIsNotEmpty(t *testing.T) {
	var zero pager.Cursor
	if !zero.IsStart() || zero == pager.At("") || pager.At("").IsStart() {
		t.Error("the start and the empty token are the same")
	}
	if token, ok := zero.Token(); token != "" || ok {
		t.Errorf("the start has the token %q, %t", token, ok)
	}
	if token, ok := pager.At("").Token(); token != "" || !ok {
		t.Errorf("the empty token is %q, %t", token, ok)
	}
	if same := pager.At("x"); same != pager.At("x") || same == pager.At("X") {
		t.Error("cursors do not compare by their token")
	}
	if fmt.Sprint(zero) == fmt.Sprint(pager.At("(start)")) {
		t.Error("a person cannot tell the start from a token")
	}
}

// A cursor reads back from JSON as what was written, whatever its token looks like.
func TestCursor_JSON(t *testing.T) {
	for _, c := range []pager.Cursor{
		{}, pager.At(""), pager.At("null"), pager.At("42"), pager.At(`{"a":"b"}`), pager.At("<&>\u2028\n\x00"), pager.At("日本語"),
	} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got := pager.At("left over")
		if err := json.Unmarshal(data, &got); err != nil || got != c {
			t.Errorf("%s reads back from %s as %s: %v", c, data, got, err)
		}
	}
	for _, text := range []string{"42", "true", "{}", "[]", `["x"]`} {
		c := pager.At("before")
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s is the cursor %s", text, c)
		}
	}
	if data, _ := json.Marshal(pager.Cursor{}); string(data) != "null" {
		t.Errorf("the start is written as %s", data)
	}
}

// Each end has a name, and the zero value is no end.
func TestEnd(t *testing.T) {
	var zero pager.End
	if zero != pager.EndUnknown || zero == pager.EndLast {
		t.Error("the zero End is not unknown")
	}
	for end, name := range map[pager.End]string{
		pager.EndUnknown: "unknown", pager.EndMore: "more", pager.EndLast: "last", pager.End(9): "invalid",
	} {
		if end.String() != name {
			t.Errorf("%d is called %s, want %s", end, end, name)
		}
	}
}
