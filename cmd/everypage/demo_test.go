package main

import (
	"strings"
	"testing"
)

func TestDemoHolds(t *testing.T) {
	t.Setenv(asCommand, "1") // its processes are this binary
	w := newWorld(t, 0)
	got := w.want(exitDone, []string{"demo"}, "status: running", "status: complete", "Every page, every item, once.", "A 1, B 1, C 1, D 1, E 1, F 1, G 1", "key demo|E|remind")
	if strings.Contains(got.out, "FAIL") || strings.Count(got.out, "   ok  ") != 10 {
		t.Errorf("the claims were:\n%s", got.out)
	}
}

// The demo checks what it claims: a CRM that honours no keys makes it fail.
func TestDemoFailsWhereAClaimDoesNotHold(t *testing.T) {
	t.Setenv(asCommand, "1")
	w := newWorld(t, 0)
	got := w.want(exitClaim, []string{"demo", "--forgetful-crm"}, "FAIL  the CRM has one note for each ticket", "E 2", "1 claim does not hold")
	if strings.Contains(got.out, "Every page") {
		t.Errorf("it says that all is well:\n%s", got.out)
	}
}
