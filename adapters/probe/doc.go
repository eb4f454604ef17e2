// Package probe looks at a list API and suggests a contract for it.
//
// It fetches a page, tries every contract that comes with the library against
// that one answer, makes further candidates of what the answer shows, and follows
// the best of them by a page or two: the items must differ and the cursor must
// move. What it returns is a suggestion with its evidence and its doubts, for a
// person who then reads the API's documentation. Nothing in the library asks it
// while a list is walked: a contract is declared and never guessed.
//
// # Promises
//
// Every request is a GET, made by the engine of package adapters: its limits, its
// rule of one origin and its care for credentials hold here too. A report shows
// neither the values of cursors and items nor the caller's headers.
package probe
