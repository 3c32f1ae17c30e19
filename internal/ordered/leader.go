package ordered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Query says which message of a stream is wanted: the one with the Sequence, or the last one of
// the subject LastFor, or the first one of the subject NextFor at the Sequence or behind it.
type Query struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
}

// Stored is a message as it is stored.
type Stored struct {
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"seq"`
	Header   []byte    `json:"hdrs"`
	Data     []byte    `json:"data"`
	Time     time.Time `json:"time"`
}

// Ask asks the node that leads a stream for one message. It does not try again. The client library
// would ask any replica, which may lack the newest messages.
func Ask(ctx context.Context, js jetstream.JetStream, stream string, query Query) (m Stored, found bool, err error) {
	question, err := json.Marshal(query)
	if err != nil {
		return Stored{}, false, fmt.Errorf("encode a question for a message of %s: %w", stream, err)
	}
	reply, err := js.Conn().RequestWithContext(ctx, APIPrefix(js)+"STREAM.MSG.GET."+stream, question)
	if err != nil {
		return Stored{}, false, fmt.Errorf("ask for a message of %s: %w", stream, err)
	}
	var answer struct { // bytes are in base64
		Error   *jetstream.APIError `json:"error"`
		Message *Stored             `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return Stored{}, false, fmt.Errorf("decode the answer for a message of %s: %w", stream, err)
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return Stored{}, false, nil
	case answer.Error != nil:
		return Stored{}, false, fmt.Errorf("ask for a message of %s: %w", stream, answer.Error)
	case answer.Message == nil:
		return Stored{}, false, errors.New("the answer for a message of " + stream + " has none")
	}
	return *answer.Message, true, nil
}

// APIPrefix is how the subjects of all requests to JetStream begin.
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
