package everypage

import (
	"errors"
	"fmt"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// Item is what a handler gets.
type Item[T any] struct {
	// ID identifies the item in its list.
	ID string
	// Key is the idempotency key of the job's action on this item: the same for
	// every call, whatever stopped in between. See [Key].
	Key string
	// RunID and Page tell where the item was met; pages are counted from 0.
	RunID string
	Page  int
	// Attempt counts the calls for this item, this one included.
	Attempt int
	// CreatedAt is the time that a cutoff is compared with; zero where unknown, and
	// for an item that is handled from its stored bytes.
	CreatedAt time.Time
	// Value is the decoded item, Raw the bytes that it came as.
	Value T
	Raw   []byte
}

// PermanentError is a handler's word that trying again cannot help. The item is
// held at once.
type PermanentError struct {
	// Code says why, for the hold queue. Empty means state.HoldPermanent.
	Code pager.Code
	Err  error
}

func (e *PermanentError) Error() string { return "permanent: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PermanentError) Unwrap() error { return e.Err }

// Permanent wraps a handler's error to say that trying again cannot help.
func Permanent(err error) error {
	return &PermanentError{Code: state.HoldPermanent, Err: orUnknown(err)}
}

// PauseRunError is a handler's word that its own API is limiting: the run pauses
// and the item is called again afterwards. The call costs no attempt.
type PauseRunError struct {
	// Until is when to go on; the zero time leaves it to the engine.
	Until time.Time
	// Err is the cause. Where it holds a *pager.Fault, what that says about the
	// other API's answer reaches the receipt; one that asks for review, such as a
	// refused credential, stops the run until a person has looked at it.
	Err error
}

func (e *PauseRunError) Error() string { return "pause the run: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *PauseRunError) Unwrap() error { return e.Err }

// PauseRun wraps a handler's error to say that the run has to pause.
func PauseRun(until time.Time, err error) error {
	return &PauseRunError{Until: until, Err: orUnknown(err)}
}

// NotDoneError is a handler's word that the effect certainly did not happen. For
// a job that asks for at-most-once, only such an item is called again.
type NotDoneError struct{ Err error }

func (e *NotDoneError) Error() string { return "not done: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *NotDoneError) Unwrap() error { return e.Err }

// NotDone wraps a handler's error to say that there was certainly no effect.
func NotDone(err error) error { return &NotDoneError{Err: orUnknown(err)} }

// PanicError is what a handler's panic becomes.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the handler panicked: %v\n%s", e.Value, e.Stack)
}

// Unwrap returns the value of the panic if that was an error.
func (e *PanicError) Unwrap() error {
	if err, ok := e.Value.(error); ok {
		return err
	}
	return nil
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("no cause given")
	}
	return err
}
