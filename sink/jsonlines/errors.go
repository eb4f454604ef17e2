package jsonlines

import "errors"

// The ways in which a file cannot be used, to be tested with errors.Is.
var (
	// ErrInUse says that another process writes the file.
	ErrInUse = errors.New("another process writes it")
	// ErrForeign says that the file is another job's, another ledger's, or nobody's.
	ErrForeign = errors.New("it is not this job's file")
	// ErrChanged says that somebody else changed the file: its length or its last
	// line. Not every change is noticed; see the package's promises.
	ErrChanged = errors.New("it was changed by somebody else")
	// ErrElsewhere says that an open run has its lines in another file.
	ErrElsewhere = errors.New("the open run has lines in another file")
	// ErrFailed says that the disk did not take a write.
	ErrFailed = errors.New("the disk failed")
)

// FileError is a file that cannot be used, with what a person can do about it.
type FileError struct {
	Path string
	Err  error  // wraps one of the errors above where one fits
	Hint string // what to do next; may be empty
}

func (e *FileError) Error() string {
	text := "jsonlines: file " + e.Path + ": " + e.Err.Error()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
