package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everypage-go/everypage/adapters"
)

// looked is what an answer shows before any contract is tried.
type looked struct {
	isJSON  bool
	body    any
	arrays  []array
	scalars []scalar
	header  http.Header
}

// array is an array that may hold the list's items.
type array struct {
	path    string
	names   []string
	count   int
	objects bool
	id      *string // path of what is there and different in each element
	created string  // path of a creation time, with its format
	format  string
}

// scalar is a member that is no array and no object, outside of any array.
type scalar struct {
	path  string
	names []string
	value any
}

// depth is how far below the top a list's envelope is looked for.
const depth = 3

func look(r *recorded) looked {
	l := looked{header: r.answer.Header}
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(r.body, []byte("\xef\xbb\xbf"))))
	decoder.UseNumber() // an ID beyond 2^53 stays what it is
	if err := decoder.Decode(&l.body); err != nil {
		return l
	}
	l.isJSON = true
	l.walk(nil, l.body)
	slices.SortStableFunc(l.arrays, func(a, b array) int { return b.weight() - a.weight() })
	return l
}

func (l *looked) walk(names []string, value any) {
	switch x := value.(type) {
	case map[string]any:
		if len(names) > depth {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			l.walk(append(slices.Clone(names), name), x[name])
		}
	case []any:
		l.arrays = append(l.arrays, lookInto(names, x))
	default:
		l.scalars = append(l.scalars, scalar{pathOf(names), names, value})
	}
}

// pathOf writes a path as a contract does.
func pathOf(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = strings.NewReplacer(`\`, `\\`, ".", `\.`, "[", `\[`, "*", `\*`).Replace(name)
	}
	return strings.Join(escaped, ".")
}

func lookInto(names []string, elements []any) array {
	a := array{path: pathOf(names), names: names, count: len(elements)}
	if a.count == 0 {
		return a
	}
	first, isObject := elements[0].(map[string]any)
	if !isObject {
		if distinct(elements, nil) {
			a.id = new("")
		}
		return a
	}
	a.objects = true
	for _, candidate := range idPaths(first) {
		if distinct(elements, candidate) {
			a.id = new(pathOf(candidate))
			break
		}
	}
	for _, name := range []string{"created_at", "createdAt", "created", "createTime", "created_time", "createdTime", "creation_date", "date_created"} {
		if format := timeFormat(first[name]); format != "" {
			a.created, a.format = pathOf([]string{name}), format
			break
		}
	}
	return a
}

// idPaths are the members that may be an item's identity, the likelier first.
func idPaths(item map[string]any) [][]string {
	var paths [][]string
	for _, name := range []string{"id", "uuid", "guid", "uid", "gid", "_id", "ID", "Id", "@id", "uri", "arn", "key", "sid", "sku", "slug", "name"} {
		paths = append(paths, []string{name})
	}
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") {
			paths = append(paths, []string{name})
		}
	}
	return append(paths, []string{"node", "id"}, []string{"metadata", "uid"}, []string{"resource", "id"}, []string{"attributes", "id"}, []string{"login"}, []string{"number"})
}

// distinct reports whether each element has its own text or number at a path.
func distinct(elements []any, names []string) bool {
	seen := map[string]bool{}
	for _, element := range elements {
		var text string
		switch x := valueAt(element, names).(type) {
		case string:
			text = x
		case json.Number:
			text = x.String()
		}
		if text == "" || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func valueAt(value any, names []string) any {
	for _, name := range names {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

func timeFormat(value any) string {
	switch x := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339Nano, x); err == nil {
			return "rfc3339"
		}
	case json.Number:
		switch n, err := x.Int64(); {
		case err != nil:
		case n > 1e9 && n < 1e10:
			return "unix"
		case n > 1e12 && n < 1e13:
			return "unix_ms"
		}
	}
	return ""
}

// weight says how likely an array holds the items: objects with an identity, near
// the top, under a usual name, many.
func (a array) weight() int {
	weight := min(a.count, 9) - 10*len(a.names)
	if a.objects {
		weight += 20
	}
	if a.id != nil {
		weight += 40
	}
	if n := len(a.names); n > 0 && slices.Contains([]string{"data", "items", "results", "records", "values", "entries", "edges", "value", "list"}, strings.ToLower(a.names[n-1])) {
		weight += 15
	}
	return weight
}

// say tells a person what an array is.
func (a array) say() string {
	where := strconv.Quote(a.path)
	if a.path == "" {
		where = "the body itself"
	}
	switch {
	case a.count == 0:
		return where + ", an empty array"
	case a.id == nil:
		return fmt.Sprintf("%s, an array of %d without a member that tells its elements apart", where, a.count)
	case !a.objects:
		return fmt.Sprintf("%s, an array of %d different texts or numbers", where, a.count)
	}
	return fmt.Sprintf("%s, an array of %d objects, each with its own %s", where, a.count, strconv.Quote(*a.id))
}

// say tells what a member holds, without a text that may be a cursor.
func (s scalar) say() string {
	switch x := s.value.(type) {
	case nil:
		return s.path + " is null"
	case string:
		switch {
		case x == "":
			return s.path + " is the empty string"
		case isAddress(x):
			return s.path + " is an address"
		}
		return fmt.Sprintf("%s is a string of %d bytes", s.path, len(x))
	}
	return fmt.Sprintf("%s is %v", s.path, s.value)
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?")
}

// scalar returns the member at a path, whatever it holds.
func (l *looked) scalar(path adapters.Path) (scalar, bool) {
	i := slices.IndexFunc(l.scalars, func(s scalar) bool { return s.path == string(path) })
	if i < 0 {
		return scalar{}, false
	}
	return l.scalars[i], true
}

// folded is a name in the one spelling that the lists of names use.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", "@odata.", "").Replace(name))
}
