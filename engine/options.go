package engine

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/errata-log/errata/datadir"
)

const (
	// MinLogMaxBytes is the least room of a log, in bytes: one JetStream block
	// file with room to rotate. A smaller log is full after the first burst.
	MinLogMaxBytes = 16 << 20
	// maxReplicas is the most that JetStream keeps of a stream.
	maxReplicas = 5
)

// Options is what an operator can choose about the engines.
type Options struct {
	// NATSURL is an external NATS server, "" for the embedded one. Commas
	// separate the servers of one cluster.
	NATSURL string
	// NATSReplicas is on how many servers of an external cluster each stream
	// stands: 1 to 5, 0 means 1. Streams that have more keep them.
	NATSReplicas int
	// NATSListen is the address, host:port, at which applications reach the
	// embedded NATS to publish events, "" for none.
	NATSListen string
	// NATSLeafListen is the address, host:port, at which ingest nodes reach the
	// embedded NATS, "" for none. NATSLeaf makes this service one of them: it is
	// the URL of the hub, with user and password. An ingest node has no records.
	NATSLeafListen, NATSLeaf string
	// NATSTLSCert and NATSTLSKey are the files of a certificate, in PEM, with which
	// NATSListen and NATSLeafListen speak TLS, "" for none. NATSTLSClientCA has the
	// authorities of the certificates that clients must show, "" when they need none. An
	// ingest node shows its certificate to the hub.
	NATSTLSCert, NATSTLSKey, NATSTLSClientCA string
	// Cluster makes this service one node of several that keep the same log.
	Cluster Cluster
	// ClickHouseDSN is an external ClickHouse server
	// ("clickhouse://user:password@host:9000/database"), "" for the embedded one.
	ClickHouseDSN string
	// ClickHouseListen is the address, host:port, at which analysts reach the embedded
	// ClickHouse, "" for none. ClickHouseTLSCert and ClickHouseTLSKey are the files of a
	// certificate, in PEM, with which it speaks TLS, "" for none.
	ClickHouseListen, ClickHouseTLSCert, ClickHouseTLSKey string

	// LogMaxBytes bounds the log in bytes; a full log refuses new events. 0 means
	// 10 GiB, but at most 80 % of what the disk has.
	LogMaxBytes int64
	// LazySync lets the embedded NATS answer before the disk has the events, which
	// is a few times faster for single events. A power cut then loses everything
	// acknowledged in the last two minutes, and can lose the whole log. Leave it
	// off unless the log is replicated.
	LazySync bool

	// EngineBinary is the path of errata-engine, "" to look beside the running
	// program. LibCHDB is the path of libchdb.so, "" to look at $ERRATA_LIBCHDB,
	// beside the running program, and in the cache folder.
	EngineBinary, LibCHDB string
}

// IsLeaf says whether this is an ingest node: it takes events, keeps them on disk
// until its hub has them, and has no records.
func (o Options) IsLeaf() bool { return o.NATSLeaf != "" }

// Validate names the first setting that cannot be used, alone or with another one.
func (o Options) Validate() error {
	if err := datadir.CheckListen(o.NATSListen, "4222"); err != nil && o.NATSListen != "" {
		return fmt.Errorf("nats-listen: %w", err)
	}
	if err := datadir.CheckListen(o.NATSLeafListen, "4222"); err != nil && o.NATSLeafListen != "" {
		return fmt.Errorf("nats-leaf-listen: %w", err)
	}
	if err := datadir.CheckListen(o.ClickHouseListen, "9000"); err != nil && o.ClickHouseListen != "" {
		return fmt.Errorf("clickhouse-listen: %w", err)
	}
	if err := CheckNATS(o.NATSURL); err != nil {
		return fmt.Errorf("nats-url: %w", err)
	}
	if err := datadir.CheckURL(o.ClickHouseDSN, "clickhouse", "tcp"); err != nil {
		return fmt.Errorf("clickhouse-dsn: %w", err)
	}
	if o.LogMaxBytes != 0 && o.LogMaxBytes < MinLogMaxBytes {
		return fmt.Errorf("log-max-bytes: %d is too small, want at least %d", o.LogMaxBytes, MinLogMaxBytes)
	}
	if err := cmp.Or(o.NATSFiles().Validate(), o.ClickHouseFiles().Validate(), o.Cluster.Validate()); err != nil {
		return err
	}
	hub, err := url.Parse(o.NATSLeaf)
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{o.NATSReplicas < 0 || o.NATSReplicas > maxReplicas, fmt.Sprintf("nats-replicas: %d is not from 1 to %d", o.NATSReplicas, maxReplicas)},
		{o.NATSReplicas > 1 && o.NATSURL == "", "nats-replicas: the embedded NATS is one server; name those of a cluster in nats-url"},
		{o.NATSListen != "" && o.NATSURL != "", "nats-listen: it opens the embedded NATS, and nats-url names another one; let applications publish there"},
		{o.NATSListen != "" && o.IsLeaf(), "nats-listen: nats-leaf makes this an ingest node, which takes events over HTTP only"},
		{o.NATSLeafListen != "" && o.NATSURL != "", "nats-leaf-listen: it opens the embedded NATS, and nats-url names another one; let ingest nodes connect to a service with the embedded one"},
		{o.NATSLeafListen != "" && o.IsLeaf(), "nats-leaf-listen: nats-leaf makes this an ingest node, which takes events over HTTP only"},
		{o.NATSTLSCert != "" && o.NATSListen == "" && o.NATSLeafListen == "" && !o.IsLeaf(), "nats-tls-cert: nobody connects to the embedded NATS; set nats-listen or nats-leaf-listen too, or leave it empty"},
		{o.NATSTLSCert != "" && o.IsLeaf() && err == nil && hub.Scheme == "nats", "nats-tls-cert: nats-leaf is reached without TLS, where no certificate is shown; write its URL with tls:// as the hub does"},
		{o.NATSTLSClientCA != "" && o.IsLeaf(), "nats-tls-client-ca: nats-leaf makes this an ingest node, to which nobody connects over NATS"},
		{o.Cluster.On() && o.NATSURL != "", "cluster-name: the nodes of a cluster keep the log in the embedded NATS, and nats-url names another one"},
		{o.Cluster.On() && o.IsLeaf(), "cluster-name: nats-leaf makes this an ingest node, which has no log"},
		{o.ClickHouseListen != "" && o.ClickHouseDSN != "", "clickhouse-listen: it opens the embedded ClickHouse, and clickhouse-dsn names another one; let analysts connect there"},
		{o.ClickHouseListen != "" && o.IsLeaf(), "clickhouse-listen: nats-leaf makes this an ingest node, which has no records"},
		{o.ClickHouseTLSCert != "" && o.ClickHouseListen == "", "clickhouse-tls-cert: nobody connects to the embedded ClickHouse; set clickhouse-listen too, or leave it empty"},
		// The URL is not shown: it may hold a password.
		{o.IsLeaf() && (err != nil || hub.Scheme != "nats" && hub.Scheme != "tls" || hub.Host == ""), "nats-leaf: want nats:// or tls://" + LeafUser + ":password@host:port, as it stands in " + datadir.LeafFile + " of the hub"},
		{o.IsLeaf() && o.NATSURL != "", "nats-leaf: an ingest node keeps events in the embedded NATS, and nats-url names another one"},
		{o.IsLeaf() && o.ClickHouseDSN != "", "nats-leaf: an ingest node has no records, and clickhouse-dsn says where to keep them"},
	} {
		if c.wrong {
			return errors.New(c.why)
		}
	}
	return nil
}

// CheckNATS says what is wrong with the address of a NATS server or cluster. The
// error never shows the address, which may hold a password.
func CheckNATS(urls string) error {
	for item := range strings.SplitSeq(urls, ",") {
		// nats.go also takes host:port without a scheme.
		if strings.Contains(item, "://") {
			if err := datadir.CheckURL(item, "nats", "tls", "ws", "wss"); err != nil {
				return err
			}
		}
	}
	return nil
}
