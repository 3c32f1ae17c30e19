package main

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/app"
)

// config is everything an operator can choose: the options of the service, and those
// of this program.
type config struct {
	service   app.Options
	logLevel  slog.Level
	logFormat string // "auto", "text" or "json"
	// mailPassword is the setting smtp-password: the password, or @ and its file.
	mailPassword string
	// clusterSecret is the setting cluster-secret, likewise.
	clusterSecret string
	// origins says where each setting was set; the others have their defaults.
	origins map[string]string
	// openSecret is the path of the configuration file if it holds a password that
	// other users can read, else "".
	openSecret string
	// strays are the variables of the environment that look like a setting and are none.
	strays []stray
}

// origin says where a setting was set.
func (c *config) origin(name string) string {
	if from, ok := c.origins[name]; ok {
		return from
	}
	return "default"
}

// setting is one thing an operator can choose. The flag and the key in the
// file have its name; the environment variable is envName(name).
type setting struct {
	name  string
	hint  string // the name of the value in the help text
	usage string // one or two sentences; the help text adds the variable
	// secret says that the value can hold a password. It is refused on the command
	// line, where every user of the machine can read it, and is shown without the
	// password.
	secret bool
	// opaque says that the value is only a secret, or "@FILE" with the file that
	// holds it. Other secrets are URLs with a password in them.
	opaque bool
	set    func(text string) error
	get    func() string
	// apart separates the items of a list, "" for a comma.
	apart string
}

// settings are the settings of a config, in the order of the help.
func settings(c *config) []setting {
	o := &c.service
	return append(placeSettings(c), []setting{
		sizeSetting("log-max-bytes", "Size that the log may grow to; then new events are refused, never old ones dropped. \"auto\": 10GiB, at most 80 % of what the disk has for it.", &o.LogMaxBytes),
		boolSetting("lazy-sync", "Answer senders before their events are on disk. A power cut then loses what came in during the last two minutes. Only sensible on a replicated cluster.", &o.LazySync),
		textSetting("log-gaps", "choice", "What becomes of facts of the log that a damaged disk took: accept goes on behind them and raises an alarm, stop shows nothing new until an operator has decided.", &o.LogGaps),
		prefixesSetting("trusted-proxies", "Addresses or prefixes of the proxies whose X-Forwarded-For is believed, separated by commas.", &o.TrustedProxies),
		listSetting("install-roots", "path,...", "Folders that applications are installed in, cut from the front of file names, separated by commas.", &o.InstallRoots),
		listSetting("scrub-keys", "key,...", "Further keys whose values are secret, separated by commas. They count in every spelling and as a part of longer keys; \"=key\" only as the whole key.", &o.Scrub.Keys),
		patternsSetting("scrub-patterns", "Further patterns of secrets, RE2, separated by blanks; \\s stands for a blank in one.", &o.Scrub.Patterns),
		listSetting("scrub-query-allow", "name,...", "Names in the query of an address whose values are kept, separated by commas. All others are filtered.", &o.Scrub.QueryAllow),
		textSetting("legacy-dir", "folder", "Folder with the folders system and database, into which old error files are put for \"errata import\". Empty: DATA/legacy.", &o.LegacyDir),
		projectSetting("legacy-project", "Project that old error files belong to.", &o.LegacyProject),
		countSetting("key-events-per-minute", "Events a minute that one ingest key may send, a sixth of them at once; 0 switches the limit off.", &o.KeyEventsPerMinute),
		countSetting("project-events-per-minute", "Events a minute that all keys of one project may send together, a sixth of them at once; 0 switches the limit off.", &o.ProjectEventsPerMinute),
		countSetting("new-records-per-hour", "New records that one project may get in an hour; further new problems are counted together in overflow records. 0 switches the limit off.", &o.NewRecordsPerHour),
		countSetting("admin-rate-limit", "Requests a minute that one admin key may make; 0 switches the limit off.", &o.AdminRateLimit),
		countSetting("module-log-days", "Days that exchanges of modules are kept, while the module log is switched on.", &o.ModuleLogDays),
		countSetting("query-log-days", "Days that database queries are kept, while query logging is switched on.", &o.QueryLogDays),
		listSetting("alert-allow-hosts", "host,...", "Hosts that messages of alerts may go to although their address is private, or without TLS, with or without a port, separated by commas.", &o.AlertAllowHosts),
		textSetting("mail-module", "name", "Module that sends sign-in codes and alerts by mail: smtp, or empty for none.", &o.MailModule),
		textSetting("smtp-host", "host", "Mail server to hand mails to.", &o.SMTP.Host),
		countSetting("smtp-port", "Its port; 0: the one that belongs to smtp-tls, 587, 465 or 25.", &o.SMTP.Port),
		textSetting("smtp-tls", "mode", "starttls, tls, or none for a server on this machine. Empty: starttls.", (*string)(&o.SMTP.TLS)),
		textSetting("smtp-username", "name", "User to log in to the mail server as. Empty: no login.", &o.SMTP.Username),
		passwordSetting("smtp-password", "Its password, or @FILE with a file that holds it and that only you can read.", &c.mailPassword, &o.SMTP.Password),
		textSetting("smtp-from", "address", "Sender of the mails, such as \"Errata <errata@example.com>\".", &o.SMTP.From),
		textSetting("geo-database", "file", "Location database in MaxMind's format. Empty: the one in DATA/geo, where \"errata geo install\" puts it.", &o.GeoDatabase),
		countSetting("signin-memory-days", "Days that a place or an address is familiar after the last sign-in from there.", &o.SignInMemoryDays),
		{name: "log-level", hint: "level", usage: "Least severe line to log: debug, info, warn or error.",
			set: c.setLogLevel, get: func() string { return strings.ToLower(c.logLevel.String()) }},
		{name: "log-format", hint: "format", usage: "text, json, or auto: text on a terminal, json elsewhere.",
			set: c.setLogFormat, get: func() string { return c.logFormat }},
		textSetting("engine-binary", "path", "The errata-engine program, which runs the embedded ClickHouse. Empty: the one beside this program.", &o.EngineBinary),
		textSetting("libchdb", "path", "The libchdb.so that errata-engine loads. Empty: beside this program, then the cache folder that \"make engine\" fills.", &o.LibCHDB),
	}...)
}

// placeSettings say where the service listens and where it keeps what it has.
func placeSettings(c *config) []setting {
	o := &c.service
	return []setting{
		textSetting("data", "folder", "Folder for everything Errata keeps: the log, the records, the first keys.", &o.Data),
		textSetting("listen", "host:port", "Address to serve HTTP on. Port 0 picks a free one.", &o.Listen),
		textSetting("otlp-listen", "host:port", "Second address, for OTLP/HTTP alone; its usual port is 4318. Empty: none, since the first serves OTLP too.", &o.OTLPListen),
		textSetting("otlp-span-exceptions", "choice", "Exceptions that spans recorded: dedupe counts one once that comes as a log record too, on counts both, off passes over them.", &o.OTLPSpanExceptions),
		textSetting("public-url", "url", "URL that applications and people reach the service at, as printed and written into DATA/keys/dsn. Empty: made from the listen address.", &o.PublicURL),
		textSetting("tls-cert", "file", "Certificate with its chain, in PEM, for HTTPS at the addresses above. It is read again when it changes. Empty: HTTP without TLS.", &o.TLS.CertFile),
		textSetting("tls-key", "file", "Its key, in PEM, without a password.", &o.TLS.KeyFile),
		textSetting("tls-ca", "file", "Certificate authorities, in PEM, to trust beside the system's: for the service, the hub of an ingest node, and tls-acme-directory.", &o.TLS.CAFile),
		listSetting("tls-acme-domains", "name,...", "Names to get certificates for from an ACME server, instead of tls-cert, separated by commas. Port 443 of each must lead here.", &o.TLS.Domains),
		textSetting("tls-acme-email", "address", "Whom the ACME server may tell about problems. Empty: nobody.", &o.TLS.Email),
		textSetting("tls-acme-directory", "url", "The ACME server.", &o.TLS.Directory),
		secretSetting("nats-url", "url", "NATS server or cluster to keep the log in, instead of the embedded one. JetStream must be on.", &o.NATSURL),
		textSetting("nats-listen", "host:port", "Address at which applications reach the embedded NATS to publish events. Empty: none. DATA/keys/nats.url has the user and its password.", &o.NATSListen),
		countSetting("nats-replicas", "On how many servers of the cluster at nats-url each stream stands: 1, 3 or 5. Streams that have more keep them.", &o.NATSReplicas),
		projectSetting("nats-project", "Project that events from NATS belong to.", &o.NATSProject),
		textSetting("nats-leaf-listen", "host:port", "Address at which ingest nodes reach this service. Empty: none. DATA/keys/leaf.url has the user and its password.", &o.NATSLeafListen),
		secretSetting("nats-leaf", "url", "Makes this an ingest node of the service at that URL, which stands in DATA/keys/leaf.url there: it takes events, keeps them until that service has them, and has no records.", &o.NATSLeaf),
		textSetting("nats-tls-cert", "file", "Certificate with its chain, in PEM, for TLS at nats-listen and nats-leaf-listen. An ingest node shows it to its hub. It is read again when it changes.", &o.NATSTLSCert),
		textSetting("nats-tls-key", "file", "Its key, in PEM, without a password.", &o.NATSTLSKey),
		textSetting("nats-tls-client-ca", "file", "Authorities, in PEM, of the certificates that applications and ingest nodes must show. Empty: they need none.", &o.NATSTLSClientCA),
		textSetting("cluster-name", "name", "Makes this one node of the cluster with that name: three or five services that keep the same log, of which a minority may fail. Empty: a service of its own.", &o.Cluster.Name),
		textSetting("cluster-listen", "host:port", "Address at which the other nodes reach this one; the usual port is 6222.", &o.Cluster.Listen),
		listSetting("cluster-peers", "host:port,...", "Addresses of all nodes, this one among them, the same list on each. The first one founds the cluster.", &o.Cluster.Peers),
		passwordSetting("cluster-secret", "What only the nodes know, at least 32 characters, or @FILE with a file that holds it and that only you can read.", &c.clusterSecret, &o.Cluster.Secret),
		textSetting("cluster-ack", "choice", "While the log has no leader: spool keeps events on the disk of this node and answers 2xx, quorum refuses them with 503.", &o.Cluster.Ack),
		textSetting("cluster-node", "host:port", "Which of cluster-peers this node is. Empty: the one that cluster-listen says, or whose host is this machine.", &o.Cluster.Node),
		secretSetting("clickhouse-dsn", "dsn", "ClickHouse server to keep the records in, instead of the embedded one: clickhouse://user:password@host:9000/database.", &o.ClickHouseDSN),
		textSetting("clickhouse-listen", "host:port", "Address at which analysts reach the embedded ClickHouse, over its native protocol. Empty: none. DATA/keys/clickhouse-analyst.password has the password.", &o.ClickHouseListen),
		textSetting("clickhouse-tls-cert", "file", "Certificate with its chain, in PEM, for TLS at clickhouse-listen. It is read again when it changes.", &o.ClickHouseTLSCert),
		textSetting("clickhouse-tls-key", "file", "Its key, in PEM, without a password.", &o.ClickHouseTLSKey),
	}
}

// defaultConfig has the defaults of all settings.
func defaultConfig() *config {
	return &config{service: app.DefaultOptions(), logLevel: slog.LevelInfo, logFormat: "auto", origins: map[string]string{}}
}

// envName is the environment variable of a setting: ERRATA_LOG_MAX_BYTES for
// log-max-bytes.
func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

const envPrefix = "ERRATA_"

func textSetting(name, hint, usage string, at *string) setting {
	return setting{name: name, hint: hint, usage: usage,
		set: func(text string) error { *at = text; return nil },
		get: func() string { return *at }}
}

func secretSetting(name, hint, usage string, at *string) setting {
	s := textSetting(name, hint, usage, at)
	s.secret = true
	return s
}

// passwordSetting is a secret in the environment or in a file. given keeps the text of
// the setting, which names the file, and at gets the password.
func passwordSetting(name, usage string, given, at *string) setting {
	return setting{name: name, hint: "@file", usage: usage, secret: true, opaque: true,
		set: func(text string) (err error) {
			*given, *at = text, text
			if path, isFile := strings.CutPrefix(text, "@"); isFile {
				*at, err = readSecretFile(path)
			}
			return err
		},
		get: func() string { return *given }}
}

// readSecretFile is the content of a file that other users cannot read, without the
// line break at its end.
func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s holds a password and can be read by other users (%v): chmod 600 %s", path, info.Mode().Perm(), shellQuote(path))
	}
	text, err := os.ReadFile(path)
	return strings.TrimRight(string(text), "\r\n"), err
}

// redacted is a value without its secrets.
func (s setting) redacted(text string) string {
	switch {
	case !s.secret || text == "":
		return text
	case !s.opaque:
		return redact(text)
	case strings.HasPrefix(text, "@"):
		return text
	default:
		return hidden
	}
}

func sizeSetting(name, usage string, at *int64) setting {
	return setting{name: name, hint: "size", usage: usage,
		set: func(text string) (err error) { *at, err = parseSize(text); return err },
		get: func() string { return formatSize(*at) }}
}

func boolSetting(name, usage string, at *bool) setting {
	return setting{name: name, usage: usage,
		set: func(text string) (err error) {
			if *at, err = strconv.ParseBool(text); err != nil {
				return fmt.Errorf("%q is neither true nor false", text)
			}
			return nil
		},
		get: func() string { return strconv.FormatBool(*at) }}
}

func countSetting(name, usage string, at *int) setting {
	return setting{name: name, hint: "n", usage: usage,
		set: func(text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return fmt.Errorf("%q is not a whole number from 0 up", text)
			}
			*at = n
			return nil
		},
		get: func() string { return strconv.Itoa(*at) }}
}

func projectSetting(name, usage string, at *uint64) setting {
	return setting{name: name, hint: "number", usage: usage,
		set: func(text string) error {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil || n == 0 {
				return fmt.Errorf("%q is not the number of a project, from 1 up", text)
			}
			*at = n
			return nil
		},
		get: func() string { return strconv.FormatUint(*at, 10) }}
}

func listSetting(name, hint, usage string, at *[]string) setting {
	return setting{name: name, hint: hint, usage: usage,
		set: func(text string) error { *at = splitList(text); return nil },
		get: func() string { return strings.Join(*at, ",") }}
}

// patternsSetting is a list with blanks as separators, because patterns contain
// commas.
func patternsSetting(name, usage string, at *[]string) setting {
	return setting{name: name, hint: "pattern ...", usage: usage, apart: " ",
		set: func(text string) error { *at = strings.Fields(text); return nil },
		get: func() string { return strings.Join(*at, " ") }}
}

func prefixesSetting(name, usage string, at *[]netip.Prefix) setting {
	return setting{name: name, hint: "prefix,...", usage: usage,
		set: func(text string) error {
			var list []netip.Prefix
			for _, item := range splitList(text) {
				prefix, err := parsePrefix(item)
				if err != nil {
					return err
				}
				list = append(list, prefix)
			}
			*at = list
			return nil
		},
		get: func() string {
			texts := make([]string, len(*at))
			for i, prefix := range *at {
				texts[i] = prefix.String()
			}
			return strings.Join(texts, ",")
		}}
}

func (c *config) setLogLevel(text string) error {
	switch strings.ToLower(text) {
	case "debug", "info", "warn", "error":
		return c.logLevel.UnmarshalText([]byte(text))
	default:
		return fmt.Errorf("%q is none of debug, info, warn, error", text)
	}
}

func (c *config) setLogFormat(text string) error {
	switch text {
	case "auto", "text", "json":
		c.logFormat = text
		return nil
	default:
		return fmt.Errorf("%q is none of auto, text, json", text)
	}
}

// splitList splits text at commas and drops empty items.
func splitList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// parsePrefix reads a prefix, or an address, which becomes a prefix with that address
// alone.
func parsePrefix(text string) (netip.Prefix, error) {
	prefix, ok := errata.ParsePrefix(text)
	if !ok {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a prefix such as 10.0.0.0/8", text)
	}
	return prefix, nil
}
