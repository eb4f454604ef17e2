package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// issue is what this program wants of an issue.
type issue struct {
	ID     json.Number `json:"id"`
	Number int         `json:"number"`
	State  string      `json:"state"`
	Title  string      `json:"title"`
}

// writeCSV turns a file of JSON lines into a CSV file, which appears as a whole. It
// returns the number of issues.
func writeCSV(lines, target string) (rows int, err error) {
	in, err := os.Open(lines) //nolint:gosec // the file that this program wrote
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // it was only read
	unfinished := target + ".unfinished"
	out, err := os.Create(unfinished) //nolint:gosec // beside it
	if err != nil {
		return 0, err
	}
	rows, err = copyIssues(in, out)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(unfinished))
	}
	return rows, os.Rename(unfinished, target)
}

func copyIssues(in io.Reader, out io.Writer) (rows int, err error) {
	table := csv.NewWriter(out)
	if err := table.Write([]string{"id", "number", "state", "title"}); err != nil {
		return 0, err
	}
	for decoder := json.NewDecoder(in); ; rows++ {
		var i issue
		if err := decoder.Decode(&i); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return rows, fmt.Errorf("line %d: %w", rows+1, err)
		}
		if err := table.Write([]string{i.ID.String(), strconv.Itoa(i.Number), i.State, i.Title}); err != nil {
			return rows, err
		}
	}
	table.Flush()
	return rows, table.Error()
}
