// Package examples has no code of its own. Each folder below it is a program that
// a user of everypage would write, small enough to copy:
//
//   - contract-yaml: an API described in a file, for a program and for the command;
//   - contract-go: an API described in Go, with a composite cursor, and a whole job;
//   - github-csv: the issues of a repository in a CSV file, which is there if and
//     only if the list was read to its end;
//   - receipts-page: a job and the receipts page in a web server of one's own;
//   - invoices-crm: a note in a CRM for each open invoice, under idempotency keys;
//   - go-github: a pager over a vendor's own SDK, in a module of its own;
//   - postgres-incremental: a table in PostgreSQL that each run brings up to date,
//     in a module of its own;
//   - prometheus: a job with its metrics, in a module of its own.
//
// The guide to the first two is docs/writing-an-adapter.md.
package examples
