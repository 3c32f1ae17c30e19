package engine

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What each fail-over brings is no error of a service; who has another secret is told.
func TestWhatTheServerSaysOfANodeThatIsAway(t *testing.T) {
	for line, told := range map[string]bool{
		"Error trying to connect to route (attempt 3): dial tcp 192.0.2.1:6222: connect: connection refused":                                    false,
		"192.0.2.1:6222 - rid:12 - TLS route handshake error: read tcp 192.0.2.2:46304->192.0.2.1:6222: read: connection reset by peer":         false,
		"192.0.2.1:6222 - rid:117 - TLS route handshake error: EOF":                                                                             false,
		"192.0.2.1:6222 - rid:9 - TLS handshake timeout":                                                                                        false,
		"192.0.2.1:6222 - rid:9 - Error flushing: write tcp 192.0.2.2:46304->192.0.2.1:6222: write: broken pipe":                                false,
		"192.0.2.1:39878 - rid:126 - Route Error 'Stale Connection'":                                                                            false,
		"192.0.2.1:6222 - rid:12 - TLS route handshake error: remote error: tls: bad certificate":                                               true,
		"192.0.2.1:6222 - rid:12 - TLS route handshake error: tls: failed to verify certificate: x509: certificate signed by unknown authority": true,
		"JetStream out of resources, will be DISABLED":                                                                                          true,
	} {
		var log bytes.Buffer
		serious := ""
		natsLog{slog.New(slog.NewTextHandler(&log, nil)), func(text string) { serious = text }, nil}.Errorf("%s", line)
		if serious != line || strings.Contains(log.String(), "level=ERROR") != told {
			t.Errorf("%q: noted %q, logged %q", line, serious, log.String())
		}
	}
}

// TestWhyAStartFailed: only an address that is taken is tried again.
func TestWhyAStartFailed(t *testing.T) {
	for said, again := range map[string]bool{
		"Error listening on leafnode port: 15741 - listen tcp 127.0.0.1:15741: bind: address already in use": true,
		"Error listening on leafnode port: 99 - listen tcp 192.0.2.1:99: bind: cannot assign requested":      false,
		"Can't start JetStream: storage directory is not writable":                                           false,
	} {
		if err := startFailed("/data/log", said); errors.Is(err, errAddressTaken) != again || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v, tried again is to be %v", said, err, again)
		}
	}
}
