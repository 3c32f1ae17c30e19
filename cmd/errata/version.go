package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases:
// -ldflags "-X main.version=1.2.3".
var version string

// build is what is known about this binary.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	// Time is when the revision was committed, RFC 3339; "" when unknown.
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version // go install module@version
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

// committed is when the source of this binary was committed. A clock that shows an
// earlier time is wrong. ok is false when the time is not known.
func (b build) committed() (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, b.Time)
	return t, err == nil
}

func (b build) String() string {
	text := fmt.Sprintf("errata %s %s/%s %s", b.Version, b.OS, b.Arch, b.Go)
	if len(b.Revision) >= 12 {
		text += " " + b.Revision[:12]
	}
	if b.Modified {
		text += " modified"
	}
	return text
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print what this binary was built from",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show(cmd, thisBuild(), func(out io.Writer, b build) error {
				_, err := fmt.Fprintln(out, b)
				return err
			})
		},
	}
	addJSON(cmd, "Print one JSON object.")
	return cmd
}
