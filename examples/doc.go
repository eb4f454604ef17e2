// Package examples has no code of its own. Each folder below it is a program that
// a user of everypage would write, small enough to copy:
//
//   - contract-yaml: an API described in a file, for a program and for the command;
//   - contract-go: an API described in Go, with a composite cursor, and a whole job;
//   - go-github: a pager over a vendor's own SDK, in a module of its own.
//
// The guide to them is docs/writing-an-adapter.md.
package examples
