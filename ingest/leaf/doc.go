// Package leaf is the way in from ingest nodes. A node takes events over HTTP,
// keeps them on its disk until its hub has them, and has no records:
//
//	sender ─▶ node: spool ══NATS leaf connection══▶ hub: log
//	          node: keys  ◀═════════════════════════ hub: keys
//
// The [Hub] reads the spool of each node that is connected and puts its blocks on
// the log, each once, and keeps the node's API keys those of the hub. On the node
// a [Keyring] looks them up.
//
// The package must not change what a node has taken, and makes no stream.
package leaf
