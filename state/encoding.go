package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// document is the receipt under its name.
type document struct {
	Receipt *Receipt `json:"pagination_receipt" yaml:"pagination_receipt"`
}

// YAML writes the receipt as a document with the one key pagination_receipt.
func (r *Receipt) YAML() ([]byte, error) {
	data, err := yaml.Dump(document{r})
	if err != nil {
		return nil, fmt.Errorf("state: write the receipt as YAML: %w", err)
	}
	return data, nil
}

// JSON writes the receipt as an indented document with the one key
// pagination_receipt.
func (r *Receipt) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document{r}); err != nil {
		return nil, fmt.Errorf("state: write the receipt as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// ParseYAML reads what YAML wrote. Names that it does not know are an error.
func ParseYAML(data []byte) (*Receipt, error) {
	var doc document
	if err := yaml.Load(data, &doc, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("state: read the receipt from YAML: %w", err)
	}
	return doc.checked()
}

// ParseJSON reads what JSON wrote. Names that it does not know are an error.
func ParseJSON(data []byte) (*Receipt, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("state: read the receipt from JSON: %w", err)
	}
	return doc.checked()
}

func (d document) checked() (*Receipt, error) {
	switch {
	case d.Receipt == nil:
		return nil, errors.New("state: the document has no pagination_receipt")
	case d.Receipt.SchemaVersion != SchemaVersion:
		return nil, fmt.Errorf("state: the receipt has schema version %d, this build reads %d", d.Receipt.SchemaVersion, SchemaVersion)
	}
	return d.Receipt, nil
}
