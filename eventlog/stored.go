package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// stored is one message of the log as the server keeps it.
type stored struct {
	Subject  string // behind the prefix
	Sequence uint64
	Time     time.Time
	Data     []byte
	Header   nats.Header
	RawHead  []byte // the header's bytes
}

// nextStored finds the first fact at a sequence or behind it.
func nextStored(ctx context.Context, log Log, from uint64) (stored, bool, error) {
	return getStored(ctx, log, messageQuery{Sequence: from, NextFor: log.Prefix + ">"})
}

// messageQuery is the body of a request for one message of a stream.
type messageQuery struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
}

// messageReply is its answer. Bytes are base64 in it.
type messageReply struct {
	Error *struct {
		ErrorCode   int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
	Message *struct {
		Subject  string    `json:"subject"`
		Sequence uint64    `json:"seq"`
		Header   []byte    `json:"hdrs"`
		Data     []byte    `json:"data"`
		Time     time.Time `json:"time"`
	} `json:"message"`
}

// getStored asks the leader of the stream once. The client library would ask
// any replica, since the stream allows that, and one may be behind.
func getStored(ctx context.Context, log Log, query messageQuery) (m stored, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	request, err := json.Marshal(query)
	if err != nil {
		return stored{}, false, fmt.Errorf("encode a question to the log: %w", err)
	}
	answer, err := log.NATS.RequestWithContext(ctx, apiPrefix(log.JetStream.Options())+"STREAM.MSG.GET."+log.Stream, request)
	if err != nil {
		return stored{}, false, fmt.Errorf("ask the log for a message: %w", err)
	}
	var reply messageReply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return stored{}, false, fmt.Errorf("decode the log's answer: %w", err)
	}
	switch {
	case reply.Error != nil && reply.Error.ErrorCode == codeNoMessage:
		return stored{}, false, nil
	case reply.Error != nil:
		return stored{}, false, fmt.Errorf("ask the log for a message: %s (%d)", reply.Error.Description, reply.Error.ErrorCode)
	case reply.Message == nil:
		return stored{}, false, errors.New("the log answered without a message")
	}
	got := reply.Message
	m = stored{
		Subject: strings.TrimPrefix(got.Subject, log.Prefix), Sequence: got.Sequence,
		Time: got.Time, Data: got.Data, RawHead: got.Header,
	}
	if len(got.Header) > 0 {
		if m.Header, err = nats.DecodeHeadersMsg(got.Header); err != nil {
			return stored{}, false, fmt.Errorf("decode the header of fact %d: %w", got.Sequence, err)
		}
	}
	return m, true, nil
}

// apiPrefix is where the connection finds JetStream's API.
func apiPrefix(o jetstream.JetStreamOptions) string {
	switch {
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	default:
		return jetstream.DefaultAPIPrefix
	}
}
