package app

import (
	"fmt"
	"net"
	"net/url"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
)

// maxReplicas is the most that JetStream keeps of a stream.
const maxReplicas = 5

// isLeaf says whether this is an ingest node: it takes events, keeps them on
// disk until its hub has them, and has no records.
func (o Options) isLeaf() bool { return o.NATSLeaf != "" }

// validateListen names the first of the addresses that cannot be used.
func (o Options) validateListen() error {
	for _, listen := range []struct{ name, addr, usual string }{
		{"listen", o.Listen, "8080"},
		{"otlp-listen", o.OTLPListen, "4318"},
		{"nats-listen", o.NATSListen, "4222"},
		{"nats-leaf-listen", o.NATSLeafListen, "4222"},
	} {
		_, port, err := net.SplitHostPort(listen.addr)
		switch {
		case listen.addr == "" && listen.name != "listen":
		case err != nil || port == "":
			return fmt.Errorf("%s: %q is not host:port, such as 127.0.0.1:%s or :%[3]s", listen.name, listen.addr, listen.usual)
		case listen.name == "otlp-listen" && listen.addr == o.Listen && port != "0":
			return fmt.Errorf("otlp-listen: %q is what listen is already, which serves OTLP too; leave it empty, or choose another port", o.OTLPListen)
		}
	}
	return nil
}

// validateNATS names the first of the settings of NATS that cannot be used, or not
// beside another one.
func (o Options) validateNATS() error {
	u, err := url.Parse(o.NATSLeaf)
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{o.NATSProject == 0, "nats-project: want the number of a project, from 1 up"},
		{o.NATSReplicas < 0 || o.NATSReplicas > maxReplicas, fmt.Sprintf("nats-replicas: %d is not from 1 to %d", o.NATSReplicas, maxReplicas)},
		{o.NATSReplicas > 1 && o.NATSURL == "", "nats-replicas: the embedded NATS is one server; name those of a cluster in nats-url"},
		{o.NATSListen != "" && o.NATSURL != "", "nats-listen: it opens the embedded NATS, and nats-url names another one; let applications publish there"},
		{o.NATSListen != "" && o.isLeaf(), "nats-listen: nats-leaf makes this an ingest node, which takes events over HTTP only"},
		{o.NATSLeafListen != "" && o.NATSURL != "", "nats-leaf-listen: it opens the embedded NATS, and nats-url names another one; let ingest nodes connect to a service with the embedded one"},
		{o.NATSLeafListen != "" && o.isLeaf(), "nats-leaf-listen: nats-leaf makes this an ingest node, which takes events over HTTP only"},
		// The URL is not shown: it may hold a password.
		{o.isLeaf() && (err != nil || u.Scheme != "nats" || u.Host == ""), "nats-leaf: want nats://" + engine.LeafUser + ":password@host:port, as it stands in " + datadir.LeafFile + " of the hub"},
		{o.isLeaf() && o.NATSURL != "", "nats-leaf: an ingest node keeps events in the embedded NATS, and nats-url names another one"},
		{o.isLeaf() && o.ClickHouseDSN != "", "nats-leaf: an ingest node has no records, and clickhouse-dsn says where to keep them"},
	} {
		if c.wrong {
			return fmt.Errorf("%s", c.why)
		}
	}
	return nil
}

// validateLimits names the first of the limits that cannot be used.
func (o Options) validateLimits() error {
	for _, limit := range []struct {
		name string
		n    int
	}{
		{"admin-rate-limit", o.AdminRateLimit},
		{"key-events-per-minute", o.KeyEventsPerMinute},
		{"project-events-per-minute", o.ProjectEventsPerMinute},
		{"new-records-per-hour", o.NewRecordsPerHour},
	} {
		if limit.n < 0 {
			return fmt.Errorf("%s: %d is negative; 0 switches the limit off", limit.name, limit.n)
		}
	}
	return nil
}
