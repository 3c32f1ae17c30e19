package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/archive"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// StreamCopy says what a copy of a stream holds: all messages that the stream had at
// one moment.
type StreamCopy struct {
	Name string `json:"name"`
	// Created is when the stream was made. A restored stream keeps that, because the
	// records name their log by it.
	Created time.Time `json:"created"`
	// Config is the configuration, as the server writes it.
	Config json.RawMessage `json:"config"`
	// First and Last are the sequences, Messages the number of messages.
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	// LastTime is when the stream took its last message.
	LastTime time.Time `json:"last_time"`
}

// ErrCopyIncomplete says that messages of a stream were removed while it was copied.
// The caller tries again.
var ErrCopyIncomplete = errors.New("messages were removed while the stream was copied")

const (
	// copyAhead is how often one piece of a copy is confirmed before it is written,
	// while the writer waits for its disk: after 5 s without a word NATS breaks off.
	copyAhead = 2 * time.Second
	// copySilence is how long NATS may send nothing before the copy is broken off.
	copySilence = 30 * time.Second
	// restorePatience is how long NATS may take to make a stream of the pieces that it has:
	// it reads and writes all of them, up to the 10 GiB of a log.
	restorePatience = 15 * time.Minute
	// copyPieces is more than NATS sends unconfirmed.
	copyPieces = 1024
	// copyPiece is the size of a piece of a copy that is sent to NATS, in bytes.
	copyPiece = 512 << 10
)

// CopyStream writes a copy of a stream, which NATS makes. What the stream takes after
// NATS has begun is not in the copy. Errors: ErrCopyIncomplete.
func (n *NATS) CopyStream(ctx context.Context, name string, w io.Writer) (c StreamCopy, err error) {
	stream, err := n.js.Stream(ctx, name)
	if err != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, err)
	}
	inbox, pieces := n.conn.NewInbox(), make(chan *nats.Msg, copyPieces)
	sub, err := n.conn.ChanSubscribe(inbox, pieces)
	if err != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	var told server.JSApiStreamSnapshotResponse
	if err := n.ask(ctx, fmt.Sprintf(server.JSApiStreamSnapshotT, name),
		server.JSApiStreamSnapshotRequest{DeliverSubject: inbox, NoConsumers: true}, &told); err != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, err)
	}
	if told.Error != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, told.Error)
	}
	c = StreamCopy{
		Name: name, Created: stream.CachedInfo().Created, First: told.State.FirstSeq, Last: told.State.LastSeq,
		Messages: told.State.Msgs, LastTime: told.State.LastTime,
	}
	if c.Config, err = json.Marshal(told.Config); err != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, err)
	}
	if err := receiveCopy(ctx, pieces, w, c.Messages); err != nil {
		return c, fmt.Errorf("engine: copy the stream %s: %w", name, err)
	}
	return c, nil
}

// ask sends a request to JetStream's own API.
func (n *NATS) ask(ctx context.Context, subject string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	msg, err := n.conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	return json.Unmarshal(msg.Data, answer)
}

// receiveCopy writes the pieces of a copy, and counts the messages in them.
func receiveCopy(ctx context.Context, pieces <-chan *nats.Msg, w io.Writer, messages uint64) error {
	counter := newCopyCounter()
	out := make(chan *nats.Msg, copyPieces)
	written := make(chan error, copyPieces)
	go func() { // ends with out
		for msg := range out {
			_, err := io.MultiWriter(w, counter).Write(msg.Data)
			written <- err
		}
		close(written)
	}()
	err := passPieces(ctx, pieces, out, written)
	close(out)
	for failed := range written { // the writer has ended after that
		err = errors.Join(err, failed)
	}
	count, whole := counter.end(err)
	switch {
	case err != nil:
		return err
	case whole != nil:
		return whole
	case count != messages:
		return fmt.Errorf("%d of %d are there: %w", count, messages, ErrCopyIncomplete)
	}
	return nil
}

// passPieces hands the pieces to the writer and confirms those that are written. It
// returns after the last one.
func passPieces(ctx context.Context, pieces <-chan *nats.Msg, out chan<- *nats.Msg, written <-chan error) error {
	var waiting []*nats.Msg // handed to the writer and not confirmed
	confirm := func() error {
		msg := waiting[0]
		waiting = waiting[1:]
		return msg.Respond(nil)
	}
	ahead := 0 // confirmed and not written
	tick := time.NewTicker(copyAhead)
	defer tick.Stop()
	heard := time.Now()
	for moved := false; ; {
		var err error
		select {
		case msg := <-pieces:
			heard = time.Now()
			if len(msg.Data) == 0 && msg.Reply == "" {
				return endOfCopy(msg)
			}
			out <- msg // has room: NATS waits for confirmations
			if msg.Reply != "" {
				waiting = append(waiting, msg)
			}
		case err = <-written:
			heard, moved = time.Now(), true
			if ahead > 0 {
				ahead--
			} else if err == nil && len(waiting) > 0 {
				err = confirm()
			}
		case <-tick.C:
			if time.Since(heard) > copySilence {
				return errors.New("NATS sends nothing more")
			}
			if !moved && len(waiting) > 0 {
				ahead++
				err = confirm()
			}
			moved = false
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// endOfCopy reads the last piece, which says how the copy went.
func endOfCopy(msg *nats.Msg) error {
	if status := msg.Header.Get("Status"); status != "" && status != "204" {
		return fmt.Errorf("NATS broke off: %s %s", status, msg.Header.Get("Description"))
	}
	return nil
}

// copyCounter counts the messages of a copy that is written to it.
type copyCounter struct {
	*io.PipeWriter
	done chan struct{}
	// Of the reader, once done is closed.
	count uint64
	err   error
}

func newCopyCounter() *copyCounter {
	in, out := io.Pipe()
	c := &copyCounter{PipeWriter: out, done: make(chan struct{})}
	go func() { // ends with the pipe
		defer close(c.done)
		c.count, c.err = countCopy(in)
		_ = in.CloseWithError(c.err)
	}()
	return c
}

// end returns how many messages there were, and an error when the copy has no end.
func (c *copyCounter) end(why error) (uint64, error) {
	_ = c.CloseWithError(why) // nil is the end of the copy
	<-c.done
	return c.count, c.err
}

// countCopy reads a copy to its end.
func countCopy(in io.Reader) (count uint64, err error) {
	entries := archive.NewReader(s2.NewReader(in))
	for {
		entry, err := entries.Next()
		if err != nil {
			return count, fmt.Errorf("the copy has no end: %w", err)
		}
		if entry.Sequence > 0 {
			count++
		} else if entry.Name == "" {
			_, err := io.Copy(io.Discard, in) // what the compression has behind it
			return count, err
		}
	}
}

// PutStream makes a stream from its copy. The server gives it a new time of creation;
// [RestoreStreams] gives it the old one.
func (n *NATS) PutStream(ctx context.Context, c StreamCopy, r io.Reader) error {
	fail := func(err error) error { return fmt.Errorf("engine: restore the stream %s: %w", c.Name, err) }
	var config server.StreamConfig
	if err := json.Unmarshal(c.Config, &config); err != nil {
		return fail(err)
	}
	config.Replicas = max(1, n.cfg.Cluster.Replicas()) // whatever it was where the copy was made
	var told server.JSApiStreamRestoreResponse
	beginning, cancel := context.WithTimeout(ctx, copySilence)
	defer cancel()
	if err := n.ask(beginning, fmt.Sprintf(server.JSApiStreamRestoreT, c.Name), server.JSApiStreamRestoreRequest{Config: config}, &told); err != nil {
		return fail(err)
	}
	if told.Error != nil {
		return fail(told.Error)
	}
	piece := make([]byte, copyPiece)
	for {
		size, err := io.ReadFull(r, piece)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fail(err)
		}
		// An empty piece is the end, and its answer says how the restore went.
		msg, asked := n.sendPiece(ctx, told.DeliverSubject, piece[:size])
		if asked != nil {
			return fail(asked)
		}
		var end server.JSApiStreamCreateResponse
		if len(msg.Data) > 0 {
			if err := json.Unmarshal(msg.Data, &end); err != nil {
				return fail(err)
			}
		}
		switch {
		case end.Error != nil:
			return fail(end.Error)
		case size == 0 && (end.StreamInfo == nil || end.State.LastSeq != c.Last):
			return fail(errors.New("it does not end where its copy ends"))
		case size == 0:
			return nil
		}
	}
}

// sendPiece does not wait for ever: the server that takes the pieces may die.
func (n *NATS) sendPiece(ctx context.Context, subject string, piece []byte) (*nats.Msg, error) {
	patience := copySilence
	if len(piece) == 0 {
		patience = restorePatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return n.conn.RequestWithContext(ctx, subject, piece)
}

// RestoreStreams makes streams from their copies in an empty folder of the embedded
// NATS, and returns when they are on disk. open opens a copy.
func RestoreStreams(ctx context.Context, cfg NATSConfig, copies []StreamCopy, open func(StreamCopy) (io.ReadCloser, error)) error {
	cfg.LazySync = true // the disks are synced at the end
	n, err := StartNATS(ctx, cfg)
	if err != nil {
		return err
	}
	created := map[string]time.Time{}
	put := func(c StreamCopy) error {
		in, err := open(c)
		if err != nil {
			return err
		}
		created[c.Name] = c.Created
		return errors.Join(n.PutStream(ctx, c, in), in.Close())
	}
	for _, c := range copies {
		if err = put(c); err != nil {
			break
		}
	}
	if err = errors.Join(err, n.Stop(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if err := setCreated(cfg.StoreDir, created); err != nil {
		return err
	}
	syncDisks()
	return nil
}

// CheckCopies says whether the streams are what their copies hold. Of a stream that
// drops messages by their age, some may be gone.
func CheckCopies(ctx context.Context, js jetstream.JetStream, copies []StreamCopy) error {
	for _, c := range copies {
		stream, err := js.Stream(ctx, c.Name)
		if err != nil {
			return fmt.Errorf("engine: look at the restored stream %s: %w", c.Name, err)
		}
		info := stream.CachedInfo()
		replaced := uint64(0)
		if info.Config.MaxMsgsPerSubject > 0 {
			replaced = 1 // a copy may hold the newest message and the one that it replaces
		}
		wrong := info.Config.MaxAge == 0 && (info.State.Msgs > c.Messages || info.State.Msgs+replaced < c.Messages)
		if !info.Created.Equal(c.Created) || info.State.LastSeq != c.Last || wrong {
			return fmt.Errorf("engine: the restored stream %s was made at %v, ends at %d and has %d messages; its copy: %v, %d, %d",
				c.Name, info.Created, info.State.LastSeq, info.State.Msgs, c.Created, c.Last, c.Messages)
		}
	}
	return nil
}

// dialCopyTimeout bounds the connection of DialCopy.
const dialCopyTimeout = 5 * time.Second

// DialCopy connects to a server that has a copy of the log.
func DialCopy(ctx context.Context, url string, logger *slog.Logger) (*NATS, error) {
	if err := CheckNATS(url); err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	server, err := StartNATS(ctx, NATSConfig{URL: url, ConnectTimeout: dialCopyTimeout, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("reach the copy; its server must be up, with JetStream: %w", err)
	}
	return server, nil
}
