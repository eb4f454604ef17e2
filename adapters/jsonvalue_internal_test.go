package adapters

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzValue compares the reading of parts with that of encoding/json.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\\\"]}"},null],"a":{}}`, ` [ true , -1.5e3,"\ud83d\ude00" ] `, `"x"`, `{"":0,"\u0061":[[[]]]}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parseJSON(text)
		if (err == nil) != json.Valid(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil {
			compare(t, v)
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
