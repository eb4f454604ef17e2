package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build is what the build recorded of itself. Its JSON names are kept.
type build struct {
	Version string `json:"version"`
	// Revision is the commit, empty where the build knows none, and Time its time.
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	// Modified says that files differed from the commit.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// buildOf reads what the Go tool wrote into a program: the module's version always,
// the commit where it was built in a repository.
func buildOf(info *debug.BuildInfo) build {
	b := build{Version: info.Main.Version, Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if b.Go == "" {
		b.Go = runtime.Version()
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Revision = setting.Value
		case "vcs.time":
			b.Time = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

// String is what --version prints, without the line's end.
func (b build) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "everypage %s\n", b.Version)
	if b.Revision == "" {
		s.WriteString("revision unknown: built outside of its repository, or with -buildvcs=false\n")
	} else {
		fmt.Fprintf(&s, "revision %s", b.Revision)
		if b.Modified {
			s.WriteString(", modified")
		}
		if b.Time != "" {
			fmt.Fprintf(&s, ", of %s", b.Time)
		}
		s.WriteString("\n")
	}
	fmt.Fprintf(&s, "built with %s for %s", b.Go, b.Platform)
	return s.String()
}

func newVersion(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the build's revision, and Go's version",
		Long: `Print the version of the module, the commit that the program was built from and
whether files differed from it, and the version of Go.

With --json: version, revision, time, modified, go, platform.`,
		Example: `  everypage version
  everypage version --json`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(std, thisBuild())
			}
			_, err := fmt.Fprintln(std.out, thisBuild())
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
