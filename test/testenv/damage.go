package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/errata-log/errata/migrations"
)

// LogFile is one file of a stream, as the embedded NATS keeps it.
type LogFile struct {
	Path  string
	First uint64 // sequence
}

// SmallLog makes the streams of another namespace, whose log has files of 32 KB
// and room for three, and returns the namespace.
func (b *Broker) SmallLog() (namespace string) {
	b.t.Helper()
	namespace = b.Namespace + "s"
	if err := migrations.Log(b.t.Context(), b.JetStream, migrations.LogConfig{Namespace: namespace, MaxBytes: 120_000}); err != nil {
		b.t.Fatal(err)
	}
	return namespace
}

// LogFiles are the files of a stream below the folder that DamageNATS passes.
func LogFiles(t testing.TB, folder, stream string) (list []LogFile) {
	t.Helper()
	for n := 1; ; n++ {
		found, err := filepath.Glob(filepath.Join(folder, "jetstream", "*", "streams", stream, "msgs", fmt.Sprintf("%d.blk", n)))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return list
		}
		content, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(content) >= 12 {
			list = append(list, LogFile{found[0], binary.LittleEndian.Uint64(content[4:])})
		}
	}
}

// FindRecord finds the message with the sequence in a file of a stream: its
// offset and its size.
func FindRecord(t testing.TB, file string, sequence uint64) (at, size int64) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for len(content) >= 22 {
		size := binary.LittleEndian.Uint32(content) &^ (1 << 31)
		if binary.LittleEndian.Uint64(content[4:]) == sequence {
			return at, int64(size)
		}
		at += int64(size)
		content = content[size:]
	}
	t.Fatalf("fact %d is not in %s", sequence, file)
	return 0, 0
}

// Flip flips a bit of a file, as a disk does: the times of the file stay.
func Flip(t testing.TB, file string, at int64) {
	t.Helper()
	content, err := os.ReadFile(file)
	info, errStat := os.Stat(file)
	if err := errors.Join(err, errStat); err != nil {
		t.Fatal(err)
	}
	content[at] ^= 0x10
	if err := errors.Join(os.WriteFile(file, content, 0o600), os.Chtimes(file, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}
