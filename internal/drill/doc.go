// Package drill plays the failures that programs over list APIs break on against a
// program of the user's, and judges what it did: seven items, three a page; a kill on
// page 2; an item added meanwhile; an ID met twice; a cursor that is lost, and one
// that leads in a circle.
//
// The program is a real process, and the kill is a real one. It walks a simulated
// list on loopback, and reports each effect by a POST to a sink, which honours
// idempotency keys; in place of that sink the posts can go through to an endpoint of
// the user's. What is judged is what the sink saw, and the exit code: 0 says done.
package drill
