package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

// Stream is the stream on which the entries wait for ClickHouse.
type Stream struct {
	JetStream jetstream.JetStream
	// Name is the stream's name; Prefix stands in front of every subject.
	Name, Prefix string
}

func (s Stream) validate() error {
	if s.JetStream == nil || s.Name == "" {
		return errors.New("exchange: JetStream and the name of the stream are required")
	}
	return nil
}

func (s Stream) subject(log Log) string { return s.Prefix + "exchanges." + log.String() }

const (
	// maxMessage bounds a message; NATS takes 1 MiB with its headers.
	maxMessage = 1<<20 - 4<<10
	// maxRaw bounds a decompressed message. Escaping makes a body at most six
	// times longer, and the names of fields add a little.
	maxRaw = 16 * maxOpen
	// publishTimeout is how long JetStream may take to confirm a message.
	publishTimeout = 5 * time.Second
	// retryLater is how long a sender must wait when the stream is full or does
	// not answer.
	retryLater = 5 * time.Second
)

// fullCodes are JetStream's codes for a full stream or store. The message was not
// stored.
var fullCodes = map[jetstream.ErrorCode]bool{10023: true, 10047: true, 10077: true}

// publish puts the entries on the stream as one message, and returns when it is
// on disk. Errors: log_full, log_unavailable, body_too_large.
func (s Stream) publish(ctx context.Context, log Log, id string, entries []entry) error {
	data, err := encode(entries)
	if err != nil {
		return err
	}
	if len(data) > maxMessage {
		return errata.Errorf(errata.KindBodyTooLarge, "the entries are larger than one message of the log takes; send fewer in one request")
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err = s.JetStream.Publish(ctx, s.subject(log), data,
		jetstream.WithMsgID(id), jetstream.WithExpectStream(s.Name), jetstream.WithRetryAttempts(0))
	if err == nil {
		return nil
	}
	told := &errata.Error{
		Kind: errata.KindLogUnavailable, Message: "the log could not confirm the entries in time; send them again",
		RetryAfter: retryLater, Err: err,
	}
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok && fullCodes[refused.ErrorCode] {
		told.Kind = errata.KindLogFull
		told.Message = "entries come in faster than they are written, or ClickHouse is away; send them again later"
	}
	return told
}

// encode makes a message: JSON lines as one s2 block.
func encode(entries []entry) ([]byte, error) {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for i := range entries {
		if err := out.Encode(&entries[i]); err != nil {
			return nil, fmt.Errorf("encode entry %d: %w", i, err)
		}
	}
	return s2.Encode(nil, lines.Bytes()), nil
}

// decode reads what encode made.
func decode(data []byte) (entries []entry, size int, err error) {
	size, err = s2.DecodedLen(data)
	if err != nil {
		return nil, 0, fmt.Errorf("the message is not an s2 block: %w", err)
	}
	if size > maxRaw {
		return nil, 0, fmt.Errorf("the message has %d bytes, more than %d", size, maxRaw)
	}
	lines, err := s2.Decode(nil, data)
	if err != nil {
		return nil, 0, fmt.Errorf("the message is not an s2 block: %w", err)
	}
	for in := json.NewDecoder(bytes.NewReader(lines)); ; {
		var e entry
		if err := in.Decode(&e); err == io.EOF {
			return entries, size, nil
		} else if err != nil {
			return nil, 0, fmt.Errorf("entry %d: %w", len(entries), err)
		}
		entries = append(entries, e)
	}
}
