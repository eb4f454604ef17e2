package rows

import (
	"strconv"
	"strings"
)

// thousands writes a number with its digits in groups of three.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// atATime says how many handlers run at the same time.
func atATime(concurrency int) string {
	if concurrency <= 1 {
		return "one at a time"
	}
	return strconv.Itoa(concurrency) + " at a time"
}
