// Package proptest tests everypage, and whatever is built on it, against
// scripted cases.
//
// # Cases
//
// A case is a JSON file: how an endpoint is described to the library, the
// exchanges that its server plays, what happens on the way (a crash, a caller
// that leaves, a handler or a ledger that fails, a second process, a clock), and
// what the receipt, the handler and the server must have seen at the end. The
// format is described in testdata/cases/README.md.
//
// [TestCases] plays every case of a folder, each of its variants too: over HTTP
// on loopback, with a ledger on a file system that forgets at a crash what was
// not synced, and with an outside world, the server and the handler's effects,
// that does not. It knows nothing of a case but what the file says. A failure
// names the promise that was broken, and tells what happened in order.
//
//	go test ./proptest -run TestCases -cases=DIR
//
// DIR is absolute, or relative to where the command was typed. Programs that use
// everypage can play cases of their own API: write a folder of them and a test
// that calls [TestCases], with a pager of their own in [CaseOptions] if they have
// one.
//
// # The world
//
// The package's own tests let random things happen to a job: TestMachineMemory,
// TestMachinePebble and TestMachineContracts. A world (world.go) holds a list behind
// an API, in process or over HTTP in the words of a contract that ships (speak.go),
// and a sink that counts its effects; a model (facts.go) knows from the history of
// the list which items a complete run must have handled; and each request, record and
// call is judged by the promises (judge.go) at the moment at which it is made. When a
// process dies, the ledger's file system and the effects stop at the same instant.
// A failure names the promise and tells what happened in order.
//
// # Compatibility
//
// A case that this version plays is played by every later one. A field or a
// value that the runner does not know is an error, never ignored.
package proptest
