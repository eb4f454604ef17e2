// Package tier says how deep the tests go: EVERYPAGE_TIER is empty for the tests that
// everybody runs (go test ./... takes some three minutes on two cores), "middle" for
// those of continuous integration, and "long" for the deep ones (make test-long).
//
// Only tests import it.
package tier

import (
	"fmt"
	"os"
)

// Variable is the environment variable that chooses the tier.
const Variable = "EVERYPAGE_TIER"

// Tier is how deep the tests go.
type Tier int

// The tiers, from the shortest.
const (
	Short Tier = iota
	Middle
	Long
)

// String returns the tier's name, as the variable has it.
func (t Tier) String() string {
	switch t {
	case Short:
		return "short"
	case Middle:
		return "middle"
	case Long:
		return "long"
	}
	return fmt.Sprintf("tier %d", int(t))
}

// Current returns the tier that the environment asks for. It panics on a name that
// there is not, so that a misspelt one does not pass as a short test.
func Current() Tier {
	tier, err := parse(os.Getenv(Variable))
	if err != nil {
		panic(err)
	}
	return tier
}

func parse(name string) (Tier, error) {
	switch name {
	case "", Short.String():
		return Short, nil
	case Middle.String():
		return Middle, nil
	case Long.String():
		return Long, nil
	}
	return Short, fmt.Errorf("%s is %q; it may be empty, short, middle or long", Variable, name)
}

// Checks returns one of three numbers, such as how often something is checked.
func Checks(short, middle, long int) int {
	return [...]int{short, middle, long}[Current()]
}
