package pebblestore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxReceiptName is how long the name of a receipt's file may be, in bytes and
// without its suffix, before a hash stands for its end. File systems end at 255.
const maxReceiptName = 200

// receiptName returns the name of the file for a job's receipt. Two jobs never
// share a name, also where the file system does not tell upper from lower case,
// and every name is allowed on every system.
func receiptName(job string) string {
	var b strings.Builder
	for i := range len(job) {
		c := job[i]
		if isPlain(c) && (i > 0 || c != '.') {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteString(hex.EncodeToString([]byte{c}))
	}
	name := b.String()
	switch {
	case name == "":
		name = "%"
	case len(name) > maxReceiptName:
		sum := sha256.Sum256([]byte(job))
		// No short name has a tilde, so that none can be taken for this one.
		name = name[:maxReceiptName-2*len(sum)] + "~" + hex.EncodeToString(sum[:])
	case isDevice(name):
		name = "%" + hex.EncodeToString([]byte{job[0]}) + name[1:]
	}
	return name + mirrorSuffix
}

// isPlain reports whether a byte stands for itself in a file's name. Upper case
// does not: some systems would take it for lower case.
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// isDevice reports whether Windows takes a file of this name for a device,
// whatever follows the first dot.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}
