package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
)

const (
	// inFlight is how many pieces are on their way at a time, each of another file. They share
	// their connection with the log: a message of the log waits for 2 MiB at most, which takes
	// 17 ms on a gigabit.
	inFlight = 4
	// bytesPerSecond is about half of a gigabit. The other half is for the log and its senders.
	bytesPerSecond = 64 << 20
	// fileTries bounds how often a file is fetched that does not have its checksum. The network
	// has checksums of its own, so it is the disk of one of both nodes.
	fileTries = 3
	// fetchPatience is for how long a piece is asked for again. It is longer than an election and
	// than a restart of the peer's NATS.
	fetchPatience = 30 * time.Second
	// unfinished is appended to the name of a file that is being fetched.
	unfinished = ".unfinished"
)

// askPauses are the pauses between tries of one request.
var askPauses = background.Pauses{First: 100 * time.Millisecond, Most: 2 * time.Second}

// fetch brings the files of a snapshot into a folder.
type fetch struct {
	conn              *nats.Conn
	subject, snapshot string
	folder            string
	tell              func(done, of int64)

	limit *rate.Limiter
	done  atomic.Int64 // bytes that are in the folder
	asked atomic.Int64 // bytes that came
}

// ask sends a request again and again while nobody answers. Errors: errRefused.
func (f *fetch) ask(ctx context.Context, r request) ([]byte, error) {
	began := time.Now()
	for tries := askPauses.Begin(); ; {
		data, err := ask(ctx, f.conn, f.subject, r)
		if err == nil || errors.Is(err, errRefused) {
			return data, err
		}
		if time.Since(began) > fetchPatience || !tries.Wait(ctx) {
			return nil, fmt.Errorf("it does not answer: %w", cmp.Or(ctx.Err(), err))
		}
	}
}

// piece fetches the piece of a file that begins at a byte. size is that of the file.
func (f *fetch) piece(ctx context.Context, file int, at, size int64) ([]byte, error) {
	want := min(pieceBytes, size-at)
	if f.limit != nil {
		if err := f.limit.WaitN(ctx, int(want)); err != nil {
			return nil, err
		}
	}
	data, err := f.ask(ctx, request{Op: opPiece, Snapshot: f.snapshot, File: file, At: at})
	if err == nil && int64(len(data)) != want {
		err = fmt.Errorf("it sends %d bytes of %d", len(data), want)
	}
	f.asked.Add(int64(len(data)))
	return data, err
}

// tidy removes everything from the folder that is not a file of the snapshot, and says how many
// bytes of the snapshot may be there. It does not read them.
func (f *fetch) tidy(s Snapshot) (kept int64, err error) {
	want := make(map[string]int64, len(s.Files))
	for _, file := range s.Files {
		want[file.Path] = file.Size
	}
	var stale []string
	err = filepath.WalkDir(f.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(f.folder, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size, wanted := want[strings.TrimSuffix(name, unfinished)]
		if !wanted || info.Size() > size {
			stale = append(stale, path)
			return nil
		}
		kept += info.Size()
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, path := range stale {
		err = errors.Join(err, os.Remove(path))
	}
	return kept, err
}

// all fetches the files that are not there with their checksum.
func (f *fetch) all(ctx context.Context, s Snapshot) error {
	f.limit = rate.NewLimiter(bytesPerSecond, inFlight*pieceBytes)
	telling := background.Runner{}
	telling.Start(background.Loop{Every: toldPause, Do: func(context.Context) error { f.tell(f.done.Load(), s.Bytes); return nil }}.Run)
	defer func() { _ = telling.Stop(context.WithoutCancel(ctx)) }() // the error is that of the context
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for i, file := range s.Files {
		group.Go(func() error {
			if err := cmp.Or(each.Err(), f.file(each, i+1, file)); err != nil {
				return fmt.Errorf("fetch the file %s: %w", file.Path, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// file fetches one file, the number-th of the manifest, unless it is there.
func (f *fetch) file(ctx context.Context, number int, file File) error {
	path := filepath.Join(f.folder, file.Path)
	if sum, err := datadir.SumFile(path); err == nil && sum == file.SHA256 {
		f.done.Add(file.Size)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	for range fileTries {
		if err := f.pieces(ctx, number, file, path+unfinished); err != nil {
			return err
		}
		sum, err := datadir.SumFile(path + unfinished)
		if err != nil {
			return err
		}
		if sum == file.SHA256 {
			return os.Rename(path+unfinished, path)
		}
		f.done.Add(-file.Size)
		if err := os.Remove(path + unfinished); err != nil {
			return err
		}
	}
	return fmt.Errorf("it arrived %d times with another checksum than the manifest has, so a disk damages it", fileTries)
}

// pieces appends to a file what it lacks.
func (f *fetch) pieces(ctx context.Context, number int, file File, path string) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	at, err := sizeOf(path)
	if err != nil {
		return err
	}
	f.done.Add(at)
	for at < file.Size {
		data, err := f.piece(ctx, number, at, file.Size)
		if err != nil {
			return err
		}
		if _, err := out.WriteAt(data, at); err != nil {
			return err
		}
		at += int64(len(data))
		f.done.Add(int64(len(data)))
	}
	return nil
}
