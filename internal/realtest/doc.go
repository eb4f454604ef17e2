// Package realtest brings what nobody here made into a test: a recorded walk
// over a real API, and a real server. It imports testing, and only tests import
// it.
//
// Where the recording or the server is absent, the test skips and says how to
// get it. With EVERYPAGE_REQUIRE_REAL=1 in the environment it fails instead, so
// that a continuous integration which lost an install step does not pass.
package realtest
