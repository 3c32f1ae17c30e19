package migrations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// SpoolStream is the stream in which an ingest node keeps its events until its
	// hub has them.
	SpoolStream = "SPOOL"
	// SpoolPrefix begins the subjects of the spool.
	SpoolPrefix = "spool."
)

// Spool makes the stream and the bucket of keys of an ingest node, or checks
// existing ones. maxBytes bounds the spool; a full spool refuses new events.
func Spool(ctx context.Context, js jetstream.JetStream, maxBytes int64) error {
	if maxBytes <= 0 {
		return fmt.Errorf("migrations: maxBytes is %d and must be positive: a spool without a limit fills the disk", maxBytes)
	}
	cfg := LogConfig{MaxBytes: maxBytes, Replicas: 1}
	if err := ensureStream(ctx, js, spoolConfig(cfg), false); err != nil {
		return fmt.Errorf("migrations: stream %s: %w", SpoolStream, err)
	}
	if err := ensureBucket(ctx, js, keysConfig(cfg)); err != nil {
		return fmt.Errorf("migrations: bucket %s: %w", KeysBucket(""), err)
	}
	return nil
}

// NodeSpool names the spool of one node of a cluster: its stream, and what begins its
// subjects. All nodes have one, in the same cluster.
func NodeSpool(namespace, node string) (stream, prefix string) {
	id := nodeID(node)
	return suffixed(SpoolStream+"_"+id, namespace), SubjectPrefix(namespace) + SpoolPrefix + id + "."
}

// nodeID makes a part of a name of the address of a node.
func nodeID(node string) string {
	sum := sha256.Sum256([]byte(node))
	return hex.EncodeToString(sum[:8])
}

// MakeNodeSpool makes the spool of a node, which stands on that node alone: the one that tag
// places there. A server without a cluster needs no tag.
func MakeNodeSpool(ctx context.Context, js jetstream.JetStream, namespace, node, tag string, maxBytes int64) error {
	c := spoolConfig(LogConfig{Namespace: namespace, MaxBytes: maxBytes, Replicas: 1})
	stream, prefix := NodeSpool(namespace, node)
	c.Name, c.Description, c.Subjects = stream, "Errata: events that this node took while the log had no leader", []string{prefix + "ev.>"}
	if tag != "" {
		c.Placement = &jetstream.Placement{Tags: []string{tag}}
	}
	if err := ensureStream(ctx, js, c, false); err != nil {
		return fmt.Errorf("migrations: stream %s: %w", stream, err)
	}
	return nil
}

// spoolConfig is a work queue of blocks. A block is removed when it is on the log
// of the hub.
func spoolConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, SpoolStream, "events of this ingest node on their way to the hub", SpoolPrefix+"ev.>")
	c.Retention, c.DenyDelete = jetstream.WorkQueuePolicy, false
	return c
}
