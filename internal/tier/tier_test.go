package tier

import (
	"strings"
	"testing"
)

func TestChecks(t *testing.T) {
	for name, want := range map[string]int{"": 1, "short": 1, "middle": 2, "long": 3} {
		t.Setenv(Variable, name)
		if got := Checks(1, 2, 3); got != want {
			t.Errorf("%s=%q gives %d, want %d", Variable, name, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Setenv(Variable, "deep")
	defer func() {
		err, ok := recover().(error)
		if !ok || !strings.Contains(err.Error(), "short, middle or long") {
			t.Errorf("got %v, want an error that names the tiers", err)
		}
	}()
	Current()
}
