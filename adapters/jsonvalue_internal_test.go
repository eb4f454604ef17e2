package adapters

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzValue compares the reading of parts with that of encoding/json, with and
// without an outline.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,{"b":"\\\"]}"},null],"a":{}}`, ` [ true , -1.5e3,"\ud83d\ude00" ] `, `"x"`, `{"":0,"\u0061":[[[]]]}`, `[`,
		"\"12345\u007f678\x0112345678\"", "\"ü12345678\\\\\"", `"1234567\"89abcdef\u00e4"`, "[\"\t\"]",
		`[-0,0.5,01]`, `1.`, `-`, `1e+`, `[1 2]`, `{"a":1,}`, `{"a" 1}`, `"\uD83"`, `"\x"`, `tru`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200), "[" + strings.Repeat("1,", 100) + "1]",
		`{"a":{"b":{"c":[{"d":[1]}]}},"a":[{"b":2,"b":3}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, levels := range []int{0, 1, 2, 3, 100} {
			v, err := parseOutlined(text, levels)
			if (err == nil) != json.Valid(text) {
				t.Fatalf("%q: %v", text, err)
			}
			if err == nil {
				compare(t, v)
			}
		}
	})
}

// An outline is there down to its level, and not where it would take more room
// than the text.
func TestOutline(t *testing.T) {
	entry := `{"id":"a-long-enough-id","at":{"created":"2026-01-02T03:04:05Z","by":"somebody"},"text":"` + strings.Repeat("x", 100) + `"}`
	v, err := parseOutlined([]byte(`{"data":[`+entry+`,`+entry+`],"more":false}`), 3)
	if err != nil {
		t.Fatal(err)
	}
	second := v.member("data").elements()[1]
	if o := second.outline; o == nil || !o.nodes[second.node].kept {
		t.Error("an entry at the second level has no outline of its members")
	}
	if at := second.member("at"); at.outline == nil || at.outline.nodes[at.node].kept {
		t.Error("a member at the third level has an outline of what it holds")
	}
	if by := second.member("at").member("by").plainText(); by != "somebody" {
		t.Errorf("below the outline: %q", by)
	}
	tiny, err := parseOutlined([]byte("["+strings.Repeat("1,", 10_000)+"1]"), 3)
	if err != nil || tiny.outline != nil {
		t.Errorf("an outline of many tiny values was kept, or %v", err)
	}
	if n := len(tiny.elements()); n != 10_001 {
		t.Errorf("%d elements without an outline", n)
	}
}

// What is nested deeper than the scanner goes is judged by encoding/json, with its
// own error.
func TestDepth(t *testing.T) {
	for depth, good := range map[int]bool{scanDepth: true, scanDepth + 1: true, 10_000: true, 10_001: false} {
		text := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if _, err := parseJSON(text); (err == nil) != good {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
	var syntax *json.SyntaxError
	if _, err := parseJSON([]byte(`{"a":`)); !errors.As(err, &syntax) || syntax.Offset != 5 {
		t.Errorf("a text that is cut gives %v", err)
	}
}

// special is written for 8 bytes at a time; this is what it means.
func FuzzSpecial(f *testing.F) {
	f.Add([]byte("abcdefgh\x00"))
	f.Add([]byte("\xff\xa0\x80ü\"\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for i := range text {
			want := bytes.IndexFunc(text[i:], func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
			if want < 0 {
				want = len(text) - i
			}
			if got := special(text, i); got != i+want {
				t.Fatalf("%q from %d: %d, want %d", text, i, got, i+want)
			}
		}
	})
}

func compare(t *testing.T, v value) {
	t.Helper()
	switch v.kind() {
	case kindArray:
		var want []json.RawMessage
		if err := json.Unmarshal(v.raw, &want); err != nil {
			t.Fatalf("%q: %v", v.raw, err)
		}
		got := v.elements()
		if len(got) != len(want) {
			t.Fatalf("%q: %d elements, want %d", v.raw, len(got), len(want))
		}
		for i := range got {
			if string(got[i].raw) != string(want[i]) {
				t.Fatalf("%q: element %d is %q, want %q", v.raw, i, got[i].raw, want[i])
			}
			compare(t, got[i])
		}
	case kindObject:
		var want map[string]json.RawMessage
		if err := json.Unmarshal(v.raw, &want); err != nil {
			t.Fatalf("%q: %v", v.raw, err)
		}
		for name, raw := range want {
			got := v.member(name)
			if utf8.Valid(v.raw) && string(got.raw) != string(raw) {
				t.Fatalf("%q: %q is %q, want %q", v.raw, name, got.raw, raw)
			}
			if got.kind() != kindAbsent {
				compare(t, got)
			}
		}
	case kindText:
		var want string
		if err := json.Unmarshal(v.raw, &want); err != nil || v.plainText() != want {
			t.Fatalf("%q: %q, want %q, %v", v.raw, v.plainText(), want, err)
		}
		if exact, err := v.exactText(); err == nil && exact != want {
			t.Fatalf("%q: exactly %q, want %q", v.raw, exact, want)
		}
	case kindAbsent:
		t.Fatal("a part of a text is absent")
	case kindNull, kindBool, kindNumber:
		if !json.Valid(v.raw) {
			t.Fatalf("%q is no value", v.raw)
		}
	}
}

func TestPathProblems(t *testing.T) {
	for path, good := range map[Path]bool{
		"": true, "a": true, "a.b": true, `a\.b`: true, "a[0]": true, "a[-1].b": true, "[0]": true, "a[x=y][0].b": true, "[x=y]": true,
		".": false, "a.": false, ".a": false, "a..b": false, `a\`: false, "a[": false, "a[]": false, "a[x]": false, "a[=x]": false, "a[0]b": false,
	} {
		if _, err := path.steps(); (err == nil) != good {
			t.Errorf("%q: %v", path, err)
		}
	}
}
