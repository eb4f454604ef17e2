// Package realtest brings what nobody here made into a test: a recorded walk
// over a real API, and real servers on loopback, each started by the test and
// stopped by its process id. It imports testing, and only tests import it.
//
// Where the recording or a server is absent, the test skips and says how to
// get it. With EVERYPAGE_REQUIRE_REAL=1 in the environment it fails instead, so
// that a continuous integration which lost an install step does not pass.
package realtest
