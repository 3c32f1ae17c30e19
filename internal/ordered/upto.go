package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrEnd says that the stream has no more messages up to the sequence that was named.
	ErrEnd = errors.New("there are no more messages")
	// ErrBehind says that the stream has a message which no node delivered that was tried.
	ErrBehind = errors.New("the nodes that were read from are behind")
)

// NextUpTo is Next as long as the stream has messages up to the sequence last, then it returns
// ErrEnd. A node that is read from may be behind the others. So when it has no more messages, the
// node that leads the stream is asked, and if that has one, another node is read from; after
// some tries the error is ErrBehind.
func (r *Reader) NextUpTo(ctx context.Context, last uint64) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for tries := 1; r.next <= last; tries++ {
		if r.pending > 0 {
			msg, meta, err := r.Next(ctx)
			if err == nil && meta.Sequence.Stream > last {
				return nil, nil, ErrEnd
			}
			return msg, meta, err
		}
		more, err := r.leaderHas(ctx, last)
		switch {
		case err != nil:
			return nil, nil, err
		case !more:
			return nil, nil, ErrEnd
		case tries == openTries:
			return nil, nil, fmt.Errorf("read the stream %s from %d to %d: %w", r.cfg.Stream, r.next, last, ErrBehind)
		}
		r.drop()
		if err := r.open(ctx, func(error) bool { return false }); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, ErrEnd
}

// leaderHas asks the node that leads the stream for a message from the next one to last.
func (r *Reader) leaderHas(ctx context.Context, last uint64) (bool, error) {
	subjects := r.cfg.Subjects
	if len(subjects) == 0 {
		subjects = []string{">"}
	}
	for _, subject := range subjects {
		at, err := r.leaderNext(ctx, subject)
		if err != nil {
			return false, fmt.Errorf("ask for a message of the stream %s from %d on: %w", r.cfg.Stream, r.next, err)
		}
		if at != 0 && at <= last {
			return true, nil
		}
	}
	return false, nil
}

// leaderNext is the sequence of the next message with the subject, 0 for none.
func (r *Reader) leaderNext(ctx context.Context, subject string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	question, err := json.Marshal(struct {
		Sequence uint64 `json:"seq"`
		NextFor  string `json:"next_by_subj"`
	}{r.next, subject})
	if err != nil {
		return 0, err
	}
	// GetMsg of the client library asks any node.
	reply, err := r.cfg.JetStream.Conn().RequestWithContext(ctx, APIPrefix(r.cfg.JetStream)+"STREAM.MSG.GET."+r.cfg.Stream, question)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Sequence uint64 `json:"seq"`
		} `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	if answer.Error != nil {
		if answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound {
			return 0, nil
		}
		return 0, answer.Error
	}
	return answer.Message.Sequence, nil
}

// APIPrefix is the first part of the subjects of JetStream's API.
func APIPrefix(js jetstream.JetStream) string {
	switch o := js.Options(); {
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	default:
		return jetstream.DefaultAPIPrefix
	}
}
