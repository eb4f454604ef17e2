package drill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// outcome is how the processes of one test ended.
type outcome struct {
	killed *ending // of the one that was to be killed
	last   ending
}

// judge says whether a program did what the test expects. forwarded says that the
// effects are an endpoint's of the user's, known by its answers.
func (t test) judge(o outcome, seen map[string]tally, forwarded bool) Result {
	r := Result{Test: t.name, Expected: t.expected}
	var parts, advice []string
	fail := func(text string) {
		if !slices.Contains(advice, text) {
			advice = append(advice, text)
		}
	}
	if o.killed != nil && !o.killed.killed {
		r.Happened = fmt.Sprintf("it ended before it could be killed: %s; %s", say(*o.killed), sayEffects(seen))
		r.Advice = fmt.Sprintf("Post each item's effect to the sink when it happens; the drill kills the program at that of %s.", t.killAt)
		return r
	}
	if o.killed != nil {
		parts = append(parts, "killed after "+t.killAt)
	}
	parts = append(parts, say(o.last), sayEffects(seen))
	t.judgeEnd(o.last, fail)
	t.judgeEffects(o, seen, forwarded, fail)
	if said := o.last.said; len(advice) > 0 && said != "" && (o.last.code != 0 || o.last.late) {
		parts = append(parts, fmt.Sprintf("it said %q", said))
	}
	r.Happened, r.Advice, r.Passed = strings.Join(parts, "; "), strings.Join(advice, " "), len(advice) == 0
	return r
}

func (t test) judgeEnd(last ending, fail func(string)) {
	switch {
	case last.late:
		fail("It did not end in time: give it longer with --timeout, or find out what it waits for.")
	case last.circling:
		fail("It walks in a circle: remember the cursors that were read, and stop with an error at one that comes again.")
	case t.end == endFailed && last.code == 0:
		fail("It says done (exit 0) although the API never said that the list ended: exit 0 only behind the API's own end.")
	case t.end == endDone && last.code != 0:
		fail("It has to come to the end of the list and exit 0.")
	}
}

func (t test) judgeEffects(o outcome, seen map[string]tally, forwarded bool, fail func(string)) {
	missing := 0
	for _, item := range items {
		s := seen[item]
		if s.effects == 0 && (t.end == endDone || t.end == endEither && o.last.code == 0) {
			missing++
		}
		if s.effects > 1 {
			if forwarded {
				fail("The endpoint answered the same key with another result: keep the first answer by its Idempotency-Key, make no second effect, and answer the same again (or with Idempotent-Replayed: true).")
			} else {
				fail("An item had its effect twice: send the same Idempotency-Key for the same item each time, made of its ID and not of the time, the attempt or chance.")
			}
		}
		if forwarded && len(s.refusals) > 0 {
			fail(fmt.Sprintf("The endpoint refused item %s (status %d): answer 2xx when the effect has happened, also for a key that comes again.", item, s.refusals[0]))
		}
	}
	if seen[added].effects > 1 {
		fail("The item that was added had its effect twice: send the same Idempotency-Key for the same item each time.")
	}
	switch {
	case missing == len(items) && len(seen) == 0:
		fail("The sink saw nothing, so nothing can be judged: post each item to $EVERYPAGE_DRILL_SINK_URL, with its key as Idempotency-Key.")
	case missing > 0 && o.last.code == 0 && !o.last.late && !o.last.circling:
		fail("Items are missing although it says done: follow the cursor to the API's own end, and handle every item on the way.")
	case missing > 0:
		fail("Items are missing: go on after a stop, and after an ID that was met before.")
	}
}

func say(e ending) string {
	switch {
	case e.late:
		return "it took too long"
	case e.circling:
		return fmt.Sprintf("it asked for more than %d pages", requestLimit)
	case e.killed:
		return "killed"
	}
	return fmt.Sprintf("exit %d", e.code)
}

// sayEffects tells how often each item had its effect, those that had it equally
// often together.
func sayEffects(seen map[string]tally) string {
	groups := make(map[int][]string)
	for _, item := range items {
		groups[seen[item].effects] = append(groups[seen[item].effects], item)
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(item string) bool { return slices.Contains(items, item) })
	for _, item := range others {
		groups[seen[item].effects] = append(groups[seen[item].effects], shorten(item))
	}
	var parts []string
	for _, times := range slices.Sorted(maps.Keys(groups)) {
		which := strings.Join(groups[times], " ")
		switch times {
		case 0: // said last
		case 1:
			parts = append(parts, which+" once")
		case 2:
			parts = append(parts, which+" twice")
		default:
			parts = append(parts, fmt.Sprintf("%s %d times", which, times))
		}
	}
	if never := groups[0]; len(never) == len(items) {
		parts = append(parts, "no item")
	} else if len(never) > 0 {
		parts = append(parts, strings.Join(never, " ")+" never")
	}
	return strings.Join(parts, ", ")
}

func shorten(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// tail keeps the end of what a program says.
type tail struct{ kept []byte }

const tailLimit = 300

// Write keeps the end.
func (t *tail) Write(data []byte) (int, error) {
	t.kept = append(t.kept, data...)
	if more := len(t.kept) - tailLimit; more > 0 {
		t.kept = append(t.kept[:0], t.kept[more:]...)
	}
	return len(data), nil
}

// String returns it as one line.
func (t *tail) String() string {
	text := t.kept
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " ")
}
