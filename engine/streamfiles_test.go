package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// madeStream is a JetStream folder with one stream, which has a message and a durable
// consumer.
func madeStream(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	withStream(t, dir, func(js jetstream.JetStream) {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateOrUpdateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "c"}); err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), "s", []byte("hello")); err != nil {
			t.Fatal(err)
		}
	})
	return dir
}

// withStream starts a server on the folder and returns which files it has mended.
func withStream(t *testing.T, dir string, do func(jetstream.JetStream)) (mended []string) {
	t.Helper()
	n, err := StartNATS(t.Context(), NATSConfig{StoreDir: dir, MaxStore: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	do(n.JetStream())
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n.mended
}

// expectStream says that the stream is the one that was made.
func expectStream(t *testing.T, dir string, made time.Time) (mended []string) {
	t.Helper()
	return withStream(t, dir, func(js jetstream.JetStream) {
		stream, err := js.Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		if info := stream.CachedInfo(); !info.Created.Equal(made) || info.State.Msgs != 1 {
			t.Errorf("the stream was made %v and has %d messages, want %v and 1", info.Created, info.State.Msgs, made)
		}
		if _, err := js.Consumer(t.Context(), "S", "c"); err != nil {
			t.Errorf("the consumer: %v", err)
		}
	})
}

func TestDamagedMetaFilesAreMended(t *testing.T) {
	dir := madeStream(t)
	var made time.Time
	withStream(t, dir, func(js jetstream.JetStream) { // takes the copies
		stream, err := js.Stream(t.Context(), "S")
		if err != nil {
			t.Fatal(err)
		}
		made = stream.CachedInfo().Created
	})
	flip := func(at int) func(path string) error {
		return func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text[len(text)*at/100] ^= 4
			return os.WriteFile(path, text, 0o600)
		}
	}
	empty := func(path string) error { return os.Truncate(path, 0) }
	half := func(path string) error { return os.Truncate(path, 300) }
	for name, test := range map[string]struct {
		damage func(path string) error
		copies bool // are needed
		how    string
	}{
		"bit at the beginning": {flip(0), false, "by its checksum"},
		"bit in the middle":    {flip(50), false, "by its checksum"},
		"bit at the end":       {flip(99), false, "by its checksum"},
		"empty":                {empty, true, "from the copy"},
		"half":                 {half, true, "from the copy"},
		"gone":                 {os.Remove, true, "from the copy"},
	} {
		for _, of := range []string{"S", "S/obs/c"} {
			for _, file := range []string{metaFile, sumFile} {
				if name == "half" && file == sumFile {
					continue
				}
				t.Run(strings.Join([]string{name, of, file}, " "), func(t *testing.T) {
					expectMended(t, dir, made, filepath.Join(of, file), test.damage, test.copies, test.how)
				})
			}
		}
	}
}

// expectMended damages a copy of the folder and expects a whole stream after a start. file
// is a path below the folder of streams. copies says that mending it needs the copies of
// the last start.
func expectMended(t *testing.T, dir string, made time.Time, file string, damage func(path string) error, copies bool, how string) {
	t.Helper()
	damaged := filepath.Join(t.TempDir(), "nats")
	if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if !copies {
		if err := os.RemoveAll(filepath.Join(damaged, metaCopies)); err != nil {
			t.Fatal(err)
		}
	}
	if err := damage(filepath.Join(damaged, "jetstream", "$G", "streams", file)); err != nil {
		t.Fatal(err)
	}
	mended := expectStream(t, damaged, made)
	if len(mended) != 1 || !strings.Contains(mended[0], how) {
		t.Errorf("mended: %q, want one that says %q", mended, how)
	}
	aside, _ := filepath.Glob(filepath.Join(damaged, "jetstream", "$G", "streams", filepath.Dir(file), "*"+damagedMark+"*"))
	if len(aside) == 0 {
		t.Error("what was damaged is not kept")
	}
	if again := expectStream(t, damaged, made); len(again) != 0 {
		t.Errorf("mended again: %q", again)
	}
}

// Without a copy the error names the file that cannot be mended.
func TestDamagedMetaFileIsNamed(t *testing.T) {
	dir := madeStream(t)
	path := filepath.Join(dir, "jetstream", "$G", "streams", "S", metaFile)
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, metaCopies)), os.Truncate(path, 20)); err != nil {
		t.Fatal(err)
	}
	_, err := StartNATS(t.Context(), NATSConfig{StoreDir: dir, MaxStore: 64 << 20})
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{path, "damaged", "from a backup"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}
