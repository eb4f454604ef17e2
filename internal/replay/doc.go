// Package replay serves a recorded walk over loopback: real answers of a real
// API, in the recording format of the npm package @octokit/fixtures (an array of
// exchanges in nock's form).
//
// A request is answered by the exchange with the same method, path and query
// parameters; the order of the parameters does not matter. A request that was
// never recorded is answered 404 and shows in the log as such. The recorded
// origin is replaced by the server's own, in headers and in bodies, so that a
// client that follows links stays on loopback. What describes the old transfer
// (length, encoding, connection) is left out; all else is served as recorded.
//
// `make fixtures` brings the recordings into a folder that git ignores.
package replay
