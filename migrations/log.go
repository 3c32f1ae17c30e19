package migrations

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

const (
	// logFormat is the version of the messages on the log. A program must not use a
	// stream with another version.
	logFormat = "1"

	// maxBlock bounds one message in bytes, and so one block of events. It is the
	// default of NATS for a message.
	maxBlock = 1 << 20

	// duplicateWindow is how long the stream recognises the id of a block that is
	// sent again. A longer time costs memory and makes the start slow.
	duplicateWindow = 2 * time.Minute

	// keysHistory keeps the last changes of each key, with who made them.
	// keysMaxBytes bounds the bucket, in which 300,000 keys have room.
	keysHistory  = 5
	keysMaxBytes = 64 << 20

	// importsMaxBytes bounds the bucket of imported files: 200 bytes for each.
	importsMaxBytes = 8 << 20
	// requestsAge is how long the answer to a request with an Idempotency-Key is
	// kept. requestsMaxBytes bounds all of them.
	requestsAge      = 24 * time.Hour
	requestsMaxBytes = 32 << 20
	// auditMaxBytes is the room of the audit trail: some 100,000 changes.
	auditMaxBytes = 64 << 20
	// exchangesMaxBytes bounds the module and query logs that are not in ClickHouse
	// yet.
	exchangesMaxBytes = 64 << 20
	// challengesAge is how long a sign-in code, or a rate limit, is kept after its
	// last change. It must be longer than a code is valid, and longer than a rate
	// limit takes to be full again.
	challengesAge = time.Hour
	// challengesMaxBytes and enrolmentsMaxBytes: a code takes 0.5 KB, so 60,000
	// sign-ins an hour; an enrolment 0.4 KB, so 80,000 accounts.
	challengesMaxBytes = 32 << 20
	enrolmentsMaxBytes = 32 << 20
	// familiarMaxBytes: an account takes 0.2 KB in most cases and at most 2 KB, so
	// a million accounts have room. familiarAge is when an account without sign-ins
	// is dropped; no entry is used for longer.
	familiarMaxBytes = 256 << 20
	familiarAge      = 366 * 24 * time.Hour
	// alertsMaxBytes bounds how far each rule is told, with its newest message: 20 KB for
	// each of 100 rules. deliveriesMaxBytes has room for 100,000 deliveries that have ended;
	// the oldest of them make room for new ones. deliveriesAge is how long one is listed.
	alertsMaxBytes     = 8 << 20
	deliveriesMaxBytes = 64 << 20
	deliveriesAge      = 7 * 24 * time.Hour
	// clusterMaxBytes bounds the secrets of a cluster, 100 bytes each.
	clusterMaxBytes = 1 << 20
	// madeAtOnce is how many streams and buckets are made at the same time. In a cluster
	// each of them elects a leader first.
	madeAtOnce = 8
)

// LogConfig is what differs between two logs.
type LogConfig struct {
	// Namespace separates several logs on one NATS server: lower-case letters and
	// digits, "" for the only one.
	Namespace string
	// MaxBytes bounds the log in bytes; a full log refuses new messages.
	MaxBytes int64
	// Replicas is 1, or 3 or 5 in a cluster; 0 means 1. A stream that has more
	// keeps them.
	Replicas int
	// Cluster adds the bucket of what the nodes of a cluster share.
	Cluster bool
}

// namespaceForm is what may be part of a subject, a stream name and a bucket name.
var namespaceForm = regexp.MustCompile(`^[a-z0-9]{0,32}$`)

// StreamName is the name of the log's stream: "LOG", or "LOG_t1" in namespace t1.
func StreamName(namespace string) string { return suffixed("LOG", namespace) }

// SubjectPrefix begins every subject of the log: "", or "t1." in namespace t1.
func SubjectPrefix(namespace string) string {
	if namespace == "" {
		return ""
	}
	return namespace + "."
}

// KeysBucket is the bucket of API keys: "keys", or "keys_t1" in namespace t1.
func KeysBucket(namespace string) string { return suffixed("keys", namespace) }

// ImportsBucket is the bucket of imported files, by their hash.
func ImportsBucket(namespace string) string { return suffixed("imports", namespace) }

// RequestsBucket is the bucket of answers to requests with an Idempotency-Key.
func RequestsBucket(namespace string) string { return suffixed("requests", namespace) }

// AuditStream is the stream of the audit trail; its one subject has the same
// prefix as the log's.
func AuditStream(namespace string) string { return suffixed("AUDIT", namespace) }

// ExchangesStream is the stream of module and query logs on their way into
// ClickHouse.
func ExchangesStream(namespace string) string { return suffixed("EXCHANGES", namespace) }

// ChallengesBucket is the bucket of one-time codes under way and of rate limits.
func ChallengesBucket(namespace string) string { return suffixed("challenges", namespace) }

// EnrolmentsBucket is the bucket of the authenticator apps that accounts use.
func EnrolmentsBucket(namespace string) string { return suffixed("enrolments", namespace) }

// FamiliarBucket is the bucket of the places and addresses from which accounts have
// signed in.
func FamiliarBucket(namespace string) string { return suffixed("familiar", namespace) }

// AlertsBucket is the bucket that knows how far each rule of alerts is told.
func AlertsBucket(namespace string) string { return suffixed("alerts", namespace) }

// DeliveriesBucket is the bucket of messages on their way to channels.
func DeliveriesBucket(namespace string) string { return suffixed("deliveries", namespace) }

// ClusterBucket is the bucket of the secrets that the nodes of a cluster share.
func ClusterBucket(namespace string) string { return suffixed("cluster", namespace) }

func suffixed(name, namespace string) string {
	if namespace == "" {
		return name
	}
	return name + "_" + namespace
}

// Log makes the streams and buckets of a log, or checks those that exist. It
// changes their room, adds missing subjects and raises the number of replicas, but
// never lowers it. Any other difference is an error that names it, because events
// would be lost or read wrongly.
func Log(ctx context.Context, js jetstream.JetStream, cfg LogConfig) error {
	switch {
	case !namespaceForm.MatchString(cfg.Namespace):
		return fmt.Errorf("migrations: Namespace %q must be at most 32 lower-case letters and digits", cfg.Namespace)
	case cfg.MaxBytes <= 0:
		return fmt.Errorf("migrations: MaxBytes is %d and must be positive: a log without a limit fills the disk", cfg.MaxBytes)
	case cfg.Replicas < 0:
		return fmt.Errorf("migrations: Replicas is %d and must not be negative", cfg.Replicas)
	}
	cfg.Replicas = max(cfg.Replicas, 1)
	group, making := errgroup.WithContext(ctx)
	group.SetLimit(madeAtOnce)
	for _, stream := range streamConfigs(cfg) {
		group.Go(func() error {
			err := ensureStream(making, js, stream, stream.Name == AuditStream(cfg.Namespace))
			if err == nil && cfg.Replicas > 1 {
				err = readFromLeader(making, js, stream.Name)
			}
			if err != nil {
				return fmt.Errorf("migrations: stream %s: %w", stream.Name, err)
			}
			return nil
		})
	}
	for _, bucket := range bucketConfigs(cfg) {
		group.Go(func() error { return makeBucket(making, js, bucket) })
	}
	if err := group.Wait(); err != nil || !cfg.Cluster {
		return withRoom(err)
	}
	return makeBucket(ctx, js, clusterConfig(cfg))
}

// noRoom is the code of JetStream for a stream whose limit does not fit into the room of
// the server that is left.
const noRoom jetstream.ErrorCode = 10047

// withRoom says what to do about a server that has too little room.
func withRoom(err error) error {
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok && refused.ErrorCode == noRoom {
		return fmt.Errorf("%w; give the NATS server a max_file_store of 1 GiB more than log-max-bytes", err)
	}
	return err
}

// Stores returns the names of all streams of a namespace, with those of the
// buckets.
func Stores(namespace string) (names []string) {
	cfg := LogConfig{Namespace: namespace}
	for _, stream := range streamConfigs(cfg) {
		names = append(names, stream.Name)
	}
	for _, bucket := range bucketConfigs(cfg) {
		names = append(names, "KV_"+bucket.Bucket)
	}
	return names
}

// streamConfigs are all streams of the namespace that are not buckets.
func streamConfigs(cfg LogConfig) []jetstream.StreamConfig {
	return []jetstream.StreamConfig{streamConfig(cfg), auditConfig(cfg), exchangesConfig(cfg), intakeConfig(cfg), deadConfig(cfg)}
}

// streamConfig is the stream of the log: one stream gives all facts one order.
func streamConfig(cfg LogConfig) jetstream.StreamConfig {
	prefix := SubjectPrefix(cfg.Namespace)
	return jetstream.StreamConfig{
		Name:        StreamName(cfg.Namespace),
		Description: "Errata: every fact, in the one order that counts",
		Subjects:    []string{prefix + "ev.>", prefix + "cmd.>", prefix + "set.>", prefix + "sig.>", prefix + "tick.>", prefix + "note.>"},
		Storage:     jetstream.FileStorage,
		Retention:   jetstream.LimitsPolicy,
		Discard:     jetstream.DiscardNew, // a full log refuses new facts and keeps the old
		MaxBytes:    cfg.MaxBytes,
		MaxMsgSize:  maxBlock,
		Replicas:    cfg.Replicas,
		DenyDelete:  true, // a deleted fact would look like a lost one
		Duplicates:  duplicateWindow,
		AllowDirect: true,
		Metadata:    map[string]string{"format": logFormat},
	}
}

// otherStream is configured as the log is, under another name.
func otherStream(cfg LogConfig, name, description string, subjects ...string) jetstream.StreamConfig {
	c := streamConfig(cfg)
	c.Name, c.Description, c.Subjects = name, "Errata: "+description, subjects
	return c
}

// auditConfig is the audit trail, from which nothing is ever removed.
func auditConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, AuditStream(cfg.Namespace), "who changed what, each entry sealed with the one before", SubjectPrefix(cfg.Namespace)+"audit")
	c.MaxBytes, c.DenyPurge = auditMaxBytes, true
	return c
}

// exchangesConfig is the queue of module and query logs for ClickHouse. What is in
// ClickHouse is purged.
func exchangesConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, ExchangesStream(cfg.Namespace), "module exchanges and database queries on their way into ClickHouse",
		SubjectPrefix(cfg.Namespace)+"exchanges.>")
	c.MaxBytes = exchangesMaxBytes
	return c
}

// ensureStream makes the stream, or updates it. With keepRoom it keeps a larger
// room, which an operator has set.
func ensureStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, keepRoom bool) error {
	stream, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		// Two nodes that start at once may both come here; the second CreateStream
		// returns the existing stream.
		stream, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			stream, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	// An operator has set more replicas, and fewer would be less safe.
	want.Replicas = max(want.Replicas, info.Config.Replicas)
	if keepRoom {
		want.MaxBytes = max(want.MaxBytes, info.Config.MaxBytes)
	}
	if wrong := differences(info.Config, want); len(wrong) > 0 {
		return fmt.Errorf("it is there and cannot be used: %s; give this service another namespace, or move the log with a copy", strings.Join(wrong, ", "))
	}
	if info.Config.MaxBytes == want.MaxBytes && info.Config.Replicas == want.Replicas && len(info.Config.Subjects) == len(want.Subjects) {
		return nil
	}
	if want.MaxBytes < int64(info.State.Bytes) {
		return fmt.Errorf("it holds %d bytes, with a limit of %d it would refuse every new event; raise the limit", info.State.Bytes, want.MaxBytes)
	}
	changed := info.Config
	changed.MaxBytes, changed.Replicas, changed.Subjects = want.MaxBytes, want.Replicas, want.Subjects
	if _, err := js.UpdateStream(ctx, changed); err != nil {
		return fmt.Errorf("change its limit to %d bytes, its replicas to %d and its subjects to %v: %w", want.MaxBytes, want.Replicas, want.Subjects, err)
	}
	return nil
}

// differences names the settings of a stream that are wrong and cannot be changed
// without losing something.
func differences(have, want jetstream.StreamConfig) (wrong []string) {
	check := func(what string, have, want any) {
		if have != want {
			wrong = append(wrong, fmt.Sprintf("%s is %v and must be %v", what, have, want))
		}
	}
	check("format", have.Metadata["format"], want.Metadata["format"])
	// A missing subject is added. Messages of an unknown subject would be lost.
	if slices.ContainsFunc(have.Subjects, func(s string) bool { return !slices.Contains(want.Subjects, s) }) {
		wrong = append(wrong, fmt.Sprintf("subjects is %s and must be %s", strings.Join(have.Subjects, " "), strings.Join(want.Subjects, " ")))
	}
	check("storage", have.Storage, want.Storage)
	check("retention", have.Retention, want.Retention)
	check("discard", have.Discard, want.Discard)
	check("deny_delete", have.DenyDelete, want.DenyDelete)
	check("max_msg_size", have.MaxMsgSize, want.MaxMsgSize)
	check("duplicate_window", have.Duplicates, want.Duplicates)
	check("compression", have.Compression, want.Compression)
	check("max_age", have.MaxAge, want.MaxAge)
	check("max_msgs", unlimited(have.MaxMsgs), unlimited(want.MaxMsgs))
	check("max_msgs_per_subject", unlimited(have.MaxMsgsPerSubject), unlimited(want.MaxMsgsPerSubject))
	check("sealed", have.Sealed, want.Sealed)
	return wrong
}

// unlimited returns -1 for both values that mean "no limit".
func unlimited(limit int64) int64 {
	if limit <= 0 {
		return -1
	}
	return limit
}
