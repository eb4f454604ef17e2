// Command everypage walks a list API to its end and settles every item once. It
// is a thin shell over the library: every promise is kept there.
//
// # Commands
//
// "run" starts a job, or goes on with its open run: it walks a URL by a contract
// and writes each item as a line to a file, or hands it to a command. "show",
// "runs", "items", "events" and "contracts" read; "verify" recounts, "backup"
// copies a ledger, "prune" removes old runs. "retry", "accept" and
// "supersede" are a person's decisions about a run that needs review. "demo"
// shows it all on this machine.
//
// # Exit codes
//
//	0   the run is complete; or the command did what it was asked for
//	1   a claim does not hold: one of the demo, or a run's records for "verify"
//	64  the call is wrong: a flag, a contract, a URL, another definition
//	65  the run needs review; or a decision was refused
//	66  there is no such run, job or ledger
//	70  the ledger or something else inside failed
//	75  the run is paused, or somebody else works on the ledger: ask again
//
// A shell script or a scheduler may run the same command line again after 75,
// as often as it likes, and need not know what happened before.
//
// # The output file
//
// With --out, the file has exactly one line for each item that the receipt counts
// as processed, whatever was killed in between; package sink/jsonlines says how.
// Beside FILE stands a folder FILE.everypage, which belongs to it. The action of
// such a job is always "write", and no command may have that one.
//
// # Texts of others
//
// What an API or a command says is printed with its control and format characters
// escaped, and without the credentials in it.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(execute(context.Background(), terminal(), os.Args[1:]))
}
