// Package peers has tests alone: real list servers that nobody here made, each on
// loopback, walked through the adapters and the engine, and stopped on the way.
// [github.com/everypage-go/everypage/internal/realtest] starts them; "make peers"
// and Debian's packages bring them.
package peers
