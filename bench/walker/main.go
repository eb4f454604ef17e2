// Command walker is the process in which bench walks long lists. It is a program
// of its own so that its memory is that of the library, and not that of
// everything that bench compares it with.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/everypage-go/everypage/bench/child"
)

func main() { os.Exit(status()) }

func status() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "walker: it is started by bench")
		return 2
	}
	if err := child.Main(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "walker:", err)
		return 1
	}
	return 0
}
