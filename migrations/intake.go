package migrations

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// intakeMaxBytes bounds the events that applications have published to NATS and
	// that are not on the log yet. The queue is nearly always empty. When the log
	// takes nothing, it has room for 100,000 events, and then refuses new ones.
	intakeMaxBytes = 128 << 20
	// maxIntake is the largest event with its headers, in bytes; NATS refuses
	// larger ones.
	maxIntake = maxBlock + 64<<10
	// deadMaxBytes and deadAge bound the dead letters; the oldest are dropped
	// first.
	deadMaxBytes = 16 << 20
	deadAge      = 30 * 24 * time.Hour
)

// IntakeStream is the queue of events that applications publish to NATS.
func IntakeStream(namespace string) string { return suffixed("ERRORS", namespace) }

// IntakeSubjects are the subjects for events of applications, one for each book.
func IntakeSubjects(namespace string) []string {
	prefix := SubjectPrefix(namespace) + "errors.v1."
	return []string{prefix + "system", prefix + "database"}
}

// DeadStream is the stream of dead letters: published messages that were refused.
func DeadStream(namespace string) string { return suffixed("DEAD", namespace) }

// intakeConfig is a work queue: a message is removed when it is on the log. So its
// messages can be deleted.
func intakeConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, IntakeStream(cfg.Namespace), "events that applications publish, on their way onto the log", IntakeSubjects(cfg.Namespace)...)
	c.Retention, c.DenyDelete = jetstream.WorkQueuePolicy, false
	c.MaxBytes, c.MaxMsgSize = intakeMaxBytes, maxIntake
	return c
}

// deadConfig keeps dead letters for a while. The oldest make room, so that a new
// one is never refused.
func deadConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, DeadStream(cfg.Namespace), "published messages that were refused for good, scrubbed", SubjectPrefix(cfg.Namespace)+"errors.dead.>")
	c.Discard, c.DenyDelete = jetstream.DiscardOld, false
	c.MaxBytes, c.MaxAge = deadMaxBytes, deadAge
	return c
}
