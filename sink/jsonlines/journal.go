package jsonlines

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// journalFormat is the version of the journal.
const journalFormat = 1

// checkpoint is how a file stood when it was last synced itself.
type checkpoint struct {
	Format int    `json:"format"`
	Job    string `json:"job"`
	// RunID is the run of the last line, empty where there is none.
	RunID string `json:"run_id,omitempty"`
	// Size is how long the file was, in bytes.
	Size int64 `json:"size"`
	// LastLength and LastHash are those of its last line, with its line feed.
	LastLength int    `json:"last_length,omitempty"`
	LastHash   []byte `json:"last_hash,omitempty"`
	// Unconfirmed are its lines whose items may not be known as done, by key.
	Unconfirmed map[string]*mark `json:"unconfirmed,omitempty"`
}

// lineHead is what stands before a line in the journal.
type lineHead struct {
	Key    string `json:"key"`
	RunID  string `json:"run_id"`
	ItemID string `json:"item_id"`
}

// entry is a line as the journal has it.
type entry struct {
	lineHead
	text []byte
}

// A frame is the length of its content and a checksum of it, four bytes each in
// big-endian order, and the content: one line of JSON and, for a line, its text.
const frameHead = 8

func frame(head any, text []byte) ([]byte, error) {
	var content bytes.Buffer
	if err := json.NewEncoder(&content).Encode(head); err != nil { // ends in a line feed
		return nil, fmt.Errorf("jsonlines: write the journal: %w", err)
	}
	content.Write(text)
	if int64(content.Len()) > maxFrame {
		return nil, errors.New("jsonlines: it is longer than 1 GiB")
	}
	all := make([]byte, frameHead, frameHead+content.Len())
	binary.BigEndian.PutUint32(all, uint32(content.Len())) //nolint:gosec // checked above
	binary.BigEndian.PutUint32(all[4:], checksum(content.Bytes()))
	return append(all, content.Bytes()...), nil
}

const maxFrame = 1 << 30

func lineFrame(line Line, text []byte) ([]byte, error) {
	return frame(lineHead{Key: line.Key, RunID: line.RunID, ItemID: line.ItemID}, text)
}

func checksum(content []byte) uint32 {
	return crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
}

// cutFrame returns the first frame's head and text, and what follows it. ok is
// false where no whole frame stands there: its write was cut short.
func cutFrame(data []byte) (head, text, rest []byte, ok bool) {
	if len(data) < frameHead {
		return nil, nil, nil, false
	}
	length := binary.BigEndian.Uint32(data)
	if int64(length) > int64(len(data)-frameHead) {
		return nil, nil, nil, false
	}
	content := data[frameHead : frameHead+int(length)]
	if checksum(content) != binary.BigEndian.Uint32(data[4:]) {
		return nil, nil, nil, false
	}
	head, text, ok = bytes.Cut(content, []byte("\n"))
	return head, text, data[frameHead+int(length):], ok
}

// readJournal reads a journal. What stands behind its last whole frame was never
// synced, and counts for nothing.
func readJournal(path string) (point checkpoint, lines []entry, err error) {
	data, err := os.ReadFile(path) //nolint:gosec // beside the file that the caller named
	if err != nil {
		return point, nil, err
	}
	head, _, rest, ok := cutFrame(data)
	if !ok {
		return point, nil, errors.New("its journal is damaged")
	}
	if err := json.Unmarshal(head, &point); err != nil {
		return point, nil, fmt.Errorf("its journal is damaged: %w", err)
	}
	if point.Format > journalFormat {
		return point, nil, fmt.Errorf("its journal has version %d, and this build reads up to %d", point.Format, journalFormat)
	}
	for {
		head, text, after, ok := cutFrame(rest)
		if !ok {
			return point, lines, nil
		}
		e := entry{text: text}
		if err := json.Unmarshal(head, &e.lineHead); err != nil {
			return point, nil, fmt.Errorf("its journal is damaged: %w", err)
		}
		lines, rest = append(lines, e), after
	}
}

// restart syncs the file and begins the journal anew, with nothing in it but where
// the file stands.
func (f *File) restart() error {
	if err := f.out.Sync(); err != nil {
		return f.broken("sync it", err)
	}
	f.mu.Lock()
	f.point.Unconfirmed = make(map[string]*mark, len(f.marks))
	for key, m := range f.marks {
		// A batch that waits is none of this journal's; the one that was just
		// written is.
		if m.batch == nil || m.batch != f.filling {
			f.point.Unconfirmed[key] = m
		}
	}
	first, err := frame(f.point, nil)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	path := journalPath(f.folder)
	if err := writeSynced(path+".new", first); err != nil {
		return f.broken("write its journal", err)
	}
	if f.journal != nil { // not every system renames onto an open file
		if err := f.journal.Close(); err != nil {
			return f.broken("close its journal", err)
		}
		f.journal = nil
	}
	if err := os.Rename(path+".new", path); err != nil {
		return f.broken("write its journal", err)
	}
	syncFolder(f.folder)
	f.journal, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) //nolint:gosec // beside the file that the caller named
	if err != nil {
		return f.broken("open its journal", err)
	}
	f.journalSize = int64(len(first))
	return nil
}

func writeSynced(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // beside the file that the caller named
	if err != nil {
		return err
	}
	_, err = io.Copy(file, bytes.NewReader(data))
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes the names in a folder durable, where the system can.
func syncFolder(path string) {
	folder, err := os.Open(filepath.Clean(path))
	if err != nil {
		return
	}
	_ = folder.Sync() // Windows cannot, and does without
	_ = folder.Close()
}
