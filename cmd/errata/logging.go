package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
)

// newLogger writes to w: text for people on a terminal, else one JSON object a line.
// Both escape line breaks and control characters, so that an error text cannot forge
// a line.
func newLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	if format == "text" || format == "auto" && isTerminal(w) {
		return slog.New(tint.NewTextHandler(w, &tint.Options{
			Level: level, TimeFormat: "15:04:05.000", NoColor: !isTerminal(w) || os.Getenv("NO_COLOR") != "",
		}))
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: durationsInSeconds}))
}

// durationsInSeconds writes a duration as a number of seconds. The default is
// nanoseconds, which readers do not expect.
func durationsInSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
