package eventlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// markedBlock is a block with a mark, which says how far its source was read. The
// mark is in a header of the same message, so that a crash cannot separate them.
// The block is appended only directly after the last block of its subject that the
// writer knows, so that two writers cannot both continue.
type markedBlock struct {
	subject  string // without the prefix of the log
	header   string
	mark     any // as JSON in the header
	block    []byte
	afterSeq uint64 // of the subject's last block, 0 for none
}

// lastMarked reads the mark of the subject's last block into mark. A last block
// without a readable mark was not written by Errata: then lastMarked calls skipped,
// if it is not nil, and reads the mark of the block before. seq is the sequence of
// the last block in both cases: the next block is appended after it.
func lastMarked(ctx context.Context, log Log, subject, header string, mark any, skipped func(uint64, error)) (seq uint64, msgID string, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	last, found, err := getMessage(ctx, log, messageQuery{LastFor: log.Prefix + subject})
	if err != nil {
		return 0, "", false, fmt.Errorf("find the last block of %s: %w", subject, err)
	}
	if !found {
		return 0, "", false, nil
	}
	err = json.Unmarshal([]byte(last.header.Get(header)), mark)
	if err == nil {
		return last.sequence, last.id(), true, nil
	}
	if skipped != nil {
		skipped(last.sequence, fmt.Errorf("it has no readable %s: %w", header, err))
	}
	_, found, err = messageBefore(ctx, log, subject, last.sequence, func(m message) bool {
		return json.Unmarshal([]byte(m.header.Get(header)), mark) == nil
	})
	if err != nil {
		return 0, "", false, fmt.Errorf("find the block of %s before %d: %w", subject, last.sequence, err)
	}
	return last.sequence, last.id(), found, nil
}

// appendMarked tries until the outcome is known or ctx ends, and returns the
// sequence of the block. Kinds: already_running when another writer has continued
// the subject, log_full, log_unavailable. After log_unavailable the block may be on
// the log; lastMarked finds out.
func appendMarked(ctx context.Context, log Log, b markedBlock) (uint64, error) {
	mark, err := json.Marshal(b.mark)
	if err != nil {
		return 0, fmt.Errorf("encode the mark of a block: %w", err)
	}
	msgID := nuid.Next()
	return untilKnown(ctx, func(err error) error {
		return unavailable(fmt.Errorf("append a block of %s: %w", b.subject, err))
	}, func() (uint64, error) {
		sequence, err := publishMsg(ctx, log, &nats.Msg{
			Subject: log.Prefix + b.subject, Data: b.block,
			Header: nats.Header{b.header: []string{string(mark)}},
		}, msgID, jetstream.WithExpectLastSequencePerSubject(b.afterSeq))
		if isMoved(err) {
			return ownMarked(ctx, log, b, msgID)
		}
		return sequence, err
	})
}

// ownMarked finds out who wrote the last block of the subject: an earlier try with
// this message id, whose answer was lost, or another writer.
func ownMarked(ctx context.Context, log Log, b markedBlock, msgID string) (uint64, error) {
	var mark json.RawMessage
	seq, id, found, err := lastMarked(ctx, log, b.subject, b.header, &mark, nil)
	switch {
	case err != nil:
		return 0, err
	case found && id == msgID:
		return seq, nil
	default:
		return 0, errata.Errorf(errata.KindAlreadyRunning, "another process has continued the same source; wait until it has ended")
	}
}
