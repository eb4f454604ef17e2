// Package docs has no code of its own. Its tests run every command that the
// documents show, on a simulated API, and find every Go snippet in a program or an
// example that is compiled and run. README.md and README.ja.md are documents too.
package docs
