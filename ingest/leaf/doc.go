// Package leaf is the receiver of events from ingest nodes. An ingest node takes
// events over HTTP and keeps them on its disk until its hub has them. It has no
// records:
//
//	sender ─▶ node: spool ══NATS leaf connection══▶ hub: log
//	          node: keys  ◀═════════════════════════ hub: keys
//
// The [Hub] reads the spool of each connected node and puts its blocks on the log,
// each once. It copies its API keys to the node, where a [Keyring] looks them up, and the
// numbers of archived projects, whose events the node refuses.
//
// The package must not change the events of a node, and makes no stream.
package leaf
