// Package workload is what the benchmarks walk: a list of a given length whose
// pages are made in the process, and a handler that does nothing.
package workload

import (
	"encoding/binary"
	"strconv"
	"unsafe"
)

// IDs is a kind of item IDs.
type IDs string

const (
	// Random is 27 random letters and digits, as many APIs issue them.
	Random IDs = "random"
	// Sequential is a number that grows by one from item to item.
	Sequential IDs = "sequential"
)

const (
	randomLength    = 27
	firstSequential = 1_000_000_000
	alphabet        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Append appends the ID of the item at a place of the list. The same place has
// the same ID in every walk.
func (k IDs) Append(to []byte, place int) []byte {
	if k == Sequential {
		return strconv.AppendInt(to, int64(firstSequential+place), 10)
	}
	state := uint64(place)
	for left := randomLength; left > 0; {
		bits := mix(&state)
		for range min(left, 9) { // 9 characters of 6 bits each, nearly
			to = append(to, alphabet[(bits>>32*uint64(len(alphabet)))>>32])
			bits = bits*6364136223846793005 + 1442695040888963407
		}
		left -= min(left, 9)
	}
	return to
}

// Page returns the IDs of count places from the given one on. They share memory,
// so that making them costs little beside what is measured.
func (k IDs) Page(from, count int) []string {
	buffer := make([]byte, 0, count*randomLength)
	ids := make([]string, count)
	for i := range ids {
		began := len(buffer)
		buffer = k.Append(buffer, from+i)
		own := buffer[began:]
		ids[i] = unsafe.String(unsafe.SliceData(own), len(own))
	}
	return ids
}

// mix is SplitMix64: the next of a sequence of well spread numbers.
func mix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Value appends what a program of one's own would write beside an ID: the page,
// the place on it and the outcome, in 8 bytes.
func Value(to []byte, place, pageSize int) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(place/pageSize))
	to = binary.BigEndian.AppendUint16(to, uint16(place%pageSize))
	return append(to, 1, 1)
}
