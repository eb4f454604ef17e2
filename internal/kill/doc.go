// Package kill holds a test alone: it kills processes that run a job, with a real
// signal on a real disk, while the effects of their handlers are counted in a process
// that stays alive.
package kill
