package adapters_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/everypage-go/everypage/adapters"
)

// A connection that stands below another object.
func ExampleAtConnection() {
	issues := adapters.AtConnection(adapters.GitHubGraphQL(), "data.repository.issues")
	fmt.Println(issues.Items.At)
	fmt.Println(issues.Next.From)
	fmt.Println(issues.End.At)
	// Output:
	// data.repository.issues.nodes
	// body:data.repository.issues.pageInfo.endCursor
	// data.repository.issues.pageInfo.hasNextPage
}

func TestAtConnectionLeavesItsArgument(t *testing.T) {
	c := adapters.GitHubGraphQL()
	moved := adapters.AtConnection(c, "data.search")
	if !reflect.DeepEqual(c, adapters.GitHubGraphQL()) {
		t.Error("the contract that was given has changed")
	}
	if err := moved.Validate(); err != nil {
		t.Error(err)
	}
	if moved.Page.Required[0] != "data.search.pageInfo" || moved.Vetoes[0].At != "data.search.issueCount" {
		t.Errorf("got %q and %q", moved.Page.Required, moved.Vetoes[0].At)
	}
	if got := outcome(t, moved, "", 0, page(`{"data":{"search":{"issueCount":1,"nodes":[{"id":"a"}],"pageInfo":{"hasNextPage":false}}}}`)); got != "a ." {
		t.Errorf("got %q", got)
	}
}
