package engine

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// storageFailed are what the server says, in lower case, when it stops a stream
// or all of JetStream because of its files. It does not begin again by itself,
// whatever becomes of the disk, and publishers get no answer.
var storageFailed = []string{"critical write error", "will be disabled", "disabling jetstream"}

// noteFailure remembers what the server says if it stops taking messages.
func (n *NATS) noteFailure(said string) {
	lower := strings.ToLower(said)
	for _, text := range storageFailed {
		if strings.Contains(lower, text) {
			n.failure.CompareAndSwap(nil, &said)
			return
		}
	}
}

// Stopped is why the embedded server takes no messages until it is restarted, ""
// while it does and when NATS is external.
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

// testRoom is what must be written for a disk to have room again. A restart
// writes less.
const testRoom = 4 << 20

// TestRoom writes something to the folder of the embedded server, as the server
// would, and removes it. Neither the free bytes of a disk nor a quota say what
// can be written.
func (n *NATS) TestRoom() (err error) {
	// One that a crash left behind is taken again.
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
	// What is not zero takes room on file systems that leave out or compress.
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

// natsLog passes what the server says to the service's log. Its notices are
// its banner and its configuration: of interest to those who look for them.
type natsLog struct {
	log *slog.Logger
	// serious is told of each warning and error.
	serious func(string)
}

func (l natsLog) tell(level slog.Level, format string, v []any) {
	text := fmt.Sprintf(format, v...)
	l.serious(text)
	l.log.Log(context.Background(), level, text)
}

func (l natsLog) Noticef(format string, v ...any) { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Warnf(format string, v ...any)   { l.tell(slog.LevelWarn, format, v) }
func (l natsLog) Fatalf(format string, v ...any)  { l.tell(slog.LevelError, format, v) }
func (l natsLog) Errorf(format string, v ...any)  { l.tell(slog.LevelError, format, v) }
func (l natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l natsLog) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
