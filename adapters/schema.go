package adapters

import (
	_ "embed"
	"slices"
)

// schema is written by the test of this file, from the fields and their comments.
//
//go:embed contract.schema.json
var schema []byte

// Schema returns the JSON Schema, draft 2020-12, of a contract's document, for
// editors and for checks in other languages. It knows the fields and the words
// that each may have. What hangs together across fields, such as an end rule that
// needs another field, only [Contract.Validate] knows.
func Schema() []byte { return slices.Clone(schema) }
