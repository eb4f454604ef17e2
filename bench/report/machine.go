package report

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Machine is where something was measured.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	MemoryMiB int64  `json:"memory_mib"`
	System    string `json:"system"`
	Go        string `json:"go"`
	// FileSystem is the one that was measured, and Sync the median time of
	// appending 4 KiB to a file and syncing it.
	FileSystem string        `json:"file_system"`
	Sync       time.Duration `json:"sync"`
	Commit     string        `json:"commit"`
	// Load is the load average of the minute before, in processors.
	Load float64 `json:"load"`
}

// Look looks at this machine and at the disk that dir is on.
func Look(ctx context.Context, dir string) (Machine, error) {
	m := Machine{Processor: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(), Commit: commit(ctx)}
	m.Processor = cmp.Or(line("/proc/cpuinfo", "model name"), m.Processor)
	if _, err := fmt.Sscan(line("/proc/meminfo", "MemTotal"), &m.MemoryMiB); err == nil {
		m.MemoryMiB >>= 10
	}
	m.System = strings.TrimSpace(cmp.Or(line("/etc/os-release", "PRETTY_NAME"), runtime.GOOS))
	if version, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += ", Linux " + strings.TrimSpace(string(version))
	}
	m.FileSystem = fileSystem(dir)
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &m.Load) // 0 where it is not known
	}
	var err error
	m.Sync, err = syncTime(dir)
	return m, err
}

// line returns the value of a line of a file that begins with a name.
func line(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(l, name); ok {
			return strings.Trim(strings.TrimSpace(strings.TrimLeft(rest, " \t:=")), `"`)
		}
	}
	return ""
}

// fileSystem names the kinds that a benchmark is likely to meet.
func fileSystem(dir string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return "unknown"
	}
	switch kind := uint32(stat.Type); kind { //nolint:gosec // a magic number
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x01021994:
		return "tmpfs"
	case 0x794c7630:
		return "overlayfs"
	default:
		return fmt.Sprintf("%#x", kind)
	}
}

func syncTime(dir string) (time.Duration, error) {
	const times = 200
	file, err := os.CreateTemp(dir, "everypage-sync-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a temporary file
	defer file.Close()
	all := make([]time.Duration, times)
	block := make([]byte, 4<<10)
	for i := range all {
		began := time.Now()
		if _, err := file.Write(block); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		all[i] = time.Since(began)
	}
	slices.Sort(all)
	return all[times/2], nil
}

// commit names what is checked out, and says whether it was changed. It is empty
// where that is not known.
func commit(ctx context.Context) string {
	name, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty= (changed)", "--exclude=*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// Versions returns the versions of what is compared, by module, as built.
func Versions(modules ...string) []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var all []string
	for _, module := range modules {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				all = append(all, filepath.Base(strings.TrimSuffix(module, "/v2"))+" "+dependency.Version)
			}
		}
	}
	return all
}
