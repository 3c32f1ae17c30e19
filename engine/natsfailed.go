package engine

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/errata-log/errata/logfiles"
)

// storageFailed are parts of the server's messages, in lower case, when it stops a
// stream or all of JetStream because of its files. The server does not start them
// again by itself, even when the disk is well, and publishers get no answer.
var storageFailed = []string{"critical write error", "will be disabled", "disabling jetstream"}

// noteFailure keeps a message of the server which says that it takes no messages
// any more.
func (n *NATS) noteFailure(said string) {
	lower := strings.ToLower(said)
	for _, text := range storageFailed {
		if strings.Contains(lower, text) {
			n.failure.CompareAndSwap(nil, &said)
			return
		}
	}
}

// damagedStream finds the name of a stream that the server has stopped because a message in its
// files is damaged. The server meets it when a newer message of the same subject replaces it.
var damagedStream = regexp.MustCompile(`stream '[^']* > ([^']+)' critical write error: malformed or corrupt`)

// rereadDamaged lets the next server read all files of that stream and leave out what is damaged.
// With the index of the last server it would keep the damaged message, and stop again at the next
// message that replaces it.
func (n *NATS) rereadDamaged() {
	why := n.failure.Load()
	if why == nil {
		return
	}
	found := damagedStream.FindStringSubmatch(*why)
	if found == nil {
		return
	}
	log := n.cfg.Logger.With("stream", found[1])
	if err := logfiles.Reread(n.cfg.StoreDir, found[1]); err != nil {
		log.Error("the files of a damaged stream are not read again, and it will stop again", "error", err)
		return
	}
	log.Warn("the files of a stream are damaged; what can be read of it is kept")
}

// Stopped says why the embedded server takes no messages until it restarts. It is ""
// while the server takes them, and when NATS is external.
func (n *NATS) Stopped() string {
	if n.cfg.URL != "" {
		return ""
	}
	if why := n.failure.Load(); why != nil {
		return *why
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.stopped:
		return "" // for good
	case n.embedded == nil:
		return errNATSAway.Error()
	case !n.embedded.JetStreamEnabled():
		return "JetStream is switched off"
	}
	return ""
}

// testRoom is how many bytes TestRoom writes. A restart writes less.
const testRoom = 4 << 20

// TestRoom writes a file to the folder of the embedded server, as the server would,
// and removes it. The error says why the log cannot be written. Neither the free
// bytes of a disk nor a quota tell that.
func (n *NATS) TestRoom() (err error) {
	// A file that a crash left behind is used again.
	file, err := os.OpenFile(filepath.Join(n.cfg.StoreDir, ".room"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("engine: test the room for the log: %w", err)
	}
	defer func() {
		_ = file.Close()
		if gone := os.Remove(file.Name()); err == nil && gone != nil {
			err = fmt.Errorf("engine: test the room for the log: %w", gone)
		}
	}()
	// Zeros would take no room on file systems that compress or leave holes.
	block := make([]byte, testRoom)
	for i := range block {
		block[i] = byte(i*i>>8 ^ i)
	}
	if _, err = file.Write(block); err == nil {
		err = file.Sync()
	}
	if err != nil {
		return fmt.Errorf("engine: test the room for the log in %s: %w", filepath.Dir(file.Name()), err)
	}
	return nil
}

// usualLines are lines of the server that tell an operator nothing: a healthy cluster
// writes them at its start, and each second for a node that is away, which the service
// tells once. A handshake that fails for another reason than that the other side is gone is
// told: that node may have another secret.
var usualLines = regexp.MustCompile(`^(Error trying to connect to route|Waiting for routing to be established|JetStream has not established contact with a meta leader` +
	`|Metalayer blocking snapshot|Plaintext passwords detected` + // those of the service itself, which never leave the process
	`|\S+ - rid:\d+ - (Route Error 'Stale Connection'|TLS handshake timeout|(TLS route handshake error|Error flushing): .*(EOF|reset by peer|broken pipe|i/o timeout)$))`)

// natsLog writes the server's messages to the service's log. Notices are the
// server's banner and configuration, so they have the level debug.
type natsLog struct {
	log *slog.Logger
	// serious gets each warning and error.
	serious func(string)
	// fatal gets the first error that ends a start; it has room for one. The server does not end
	// the process after such an error, and is never ready.
	fatal chan<- string
}

func (l natsLog) tell(level slog.Level, format string, v []any) (text string) {
	text = fmt.Sprintf(format, v...)
	l.serious(text)
	if usualLines.MatchString(text) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, text)
	return text
}

func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Warnf(format string, v ...any)   { l.tell(slog.LevelWarn, format, v) }
func (l natsLog) Errorf(format string, v ...any)  { l.tell(slog.LevelError, format, v) }
func (l natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }

func (l natsLog) Fatalf(format string, v ...any) {
	text := l.tell(slog.LevelError, format, v)
	select {
	case l.fatal <- text:
	default:
	}
}
