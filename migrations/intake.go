package migrations

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// intakeMaxBytes is the room of events that applications published to NATS
	// and that are not on the log yet. It is empty but for moments; when the log
	// takes nothing it holds 100,000 events, and then publishers are refused.
	intakeMaxBytes = 128 << 20
	// maxIntake is the largest event with its headers; larger ones are refused
	// while they are published.
	maxIntake = maxBlock + 64<<10
	// deadMaxBytes and deadAge bound the messages that were refused for good;
	// the oldest go first.
	deadMaxBytes = 16 << 20
	deadAge      = 30 * 24 * time.Hour
)

// IntakeStream is the queue of events that applications publish to NATS.
func IntakeStream(namespace string) string { return suffixed("ERRORS", namespace) }

// IntakeSubjects are what applications publish events to, one for each book.
func IntakeSubjects(namespace string) []string {
	prefix := SubjectPrefix(namespace) + "errors.v1."
	return []string{prefix + "system", prefix + "database"}
}

// DeadStream is the stream of published messages that were refused for good.
func DeadStream(namespace string) string { return suffixed("DEAD", namespace) }

// intakeConfig is a work queue: what is on the log is taken from it. Holes are
// its nature, so messages can be deleted.
func intakeConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, IntakeStream(cfg.Namespace), "events that applications publish, on their way onto the log", IntakeSubjects(cfg.Namespace)...)
	c.Retention, c.DenyDelete = jetstream.WorkQueuePolicy, false
	c.MaxBytes, c.MaxMsgSize = intakeMaxBytes, maxIntake
	return c
}

// deadConfig keeps what was refused for a while: it never holds up what comes
// after it, so the oldest make room.
func deadConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, DeadStream(cfg.Namespace), "published messages that were refused for good, scrubbed", SubjectPrefix(cfg.Namespace)+"errors.dead.>")
	c.Discard, c.DenyDelete = jetstream.DiscardOld, false
	c.MaxBytes, c.MaxAge = deadMaxBytes, deadAge
	return c
}
