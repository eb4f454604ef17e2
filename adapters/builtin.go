package adapters

import (
	"fmt"
	"slices"
	"strings"
)

// Builtin returns the contracts that come with the library, each a fresh copy.
func Builtin() []Contract {
	return []Contract{
		GitHubREST(),
		StripeV1(),
		GoogleAIP158(),
		KeysetCatalogue(),
		KeysetFeed(),
		DockerRegistry(),
	}
}

// UnknownContractError is a name that no contract has.
type UnknownContractError struct {
	Name string
	// Known are the names that there are.
	Known []string
}

func (e *UnknownContractError) Error() string {
	return fmt.Sprintf("adapters: there is no contract %q; known are %s, and a contract of your own loads from a file", e.Name, strings.Join(e.Known, ", "))
}

// Named returns the contract with that name. For a name that no contract has, the
// error is an [*UnknownContractError].
func Named(name string) (Contract, error) {
	all := Builtin()
	if i := slices.IndexFunc(all, func(c Contract) bool { return c.Name == name }); i >= 0 {
		return all[i], nil
	}
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	return Contract{}, &UnknownContractError{Name: name, Known: known}
}
