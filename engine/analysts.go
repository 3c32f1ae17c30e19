package engine

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
)

const (
	// maxAnalystConns bounds the connections of analysts. One pool of a tool has ten.
	maxAnalystConns = 64
	// helloTimeout is how long a connection may take to name its user.
	helloTimeout = 10 * time.Second
)

// analysts is an address at which analysts reach the embedded engine, from other machines
// too. The engine itself listens on loopback only, at another port after each start, and
// one of its users has no password. So this is no plain forwarder: a connection must begin
// by naming the user for analysts, and the engine then asks its password. The engine's side
// of a connection is a [gentleConn], so that no client resets it. TLS ends here, where its
// certificate can be replaced without a restart of the engine.
type analysts struct {
	certs    *certs.Certificates // nil without TLS
	dial     func(ctx context.Context, addr string) (net.Conn, error)
	listener net.Listener
	log      *slog.Logger

	work background.Runner
	open sync.WaitGroup
	free chan struct{} // has an item for each connection
}

// listenForAnalysts opens the address and serves it until stop.
func listenForAnalysts(addr string, shown *certs.Certificates, dial func(ctx context.Context, addr string) (net.Conn, error), log *slog.Logger) (*analysts, error) {
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("engine: clickhouse-listen: something else has the port of %s, perhaps another ClickHouse; choose another one: %w", addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: clickhouse-listen: %w", err)
	}
	if shown != nil {
		listener = tls.NewListener(listener, shown.Server())
		shown.Start()
	}
	a := &analysts{certs: shown, dial: dial, listener: listener, log: log, free: make(chan struct{}, maxAnalystConns)}
	a.work.Start(a.accept)
	return a, nil
}

// check connects as an analyst would begin to.
func (a *analysts) check(ctx context.Context) errata.Check {
	addr := a.listener.Addr()
	c := errata.Check{Name: "analysts"}
	conn, err := new(net.Dialer).DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		c.Detail, c.Hint = fmt.Sprintf("nobody can connect at %s: %v", addr, err), "restart the service; its log says why"
		return c
	}
	conn.Close()
	c.OK, c.Detail = true, fmt.Sprintf("connect at %s, user %s", addr, AnalystUser)
	if tcp, ok := addr.(*net.TCPAddr); a.certs != nil {
		c.Detail += ", over TLS"
	} else if ok && !tcp.IP.IsLoopback() {
		c.Detail += "; without TLS: across a network that others use, set clickhouse-tls-cert and clickhouse-tls-key, or put it behind a VPN"
	}
	return c
}

// stop ends all connections: the engine would wait for them.
func (a *analysts) stop(ctx context.Context) error {
	err := a.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, a.work.Stop(ctx), a.certs.Stop(ctx))
}

func (a *analysts) accept(ctx context.Context) {
	defer a.open.Wait()
	failed := background.Tell(a.log.Warn, "no connection of an analyst can be taken")
	for row := 1; ; {
		conn, err := a.listener.Accept()
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil {
				conn.Close()
			}
			return
		case err != nil: // no more files
			failed(err, row)
			row++
			if !background.Wait(ctx, time.Second) {
				return
			}
			continue
		}
		row = 1
		select {
		case a.free <- struct{}{}:
			a.open.Go(func() {
				defer func() { <-a.free }()
				a.serve(ctx, conn)
			})
		default:
			a.log.Info("a connection of an analyst was refused: there are too many", "from", conn.RemoteAddr(), "limit", maxAnalystConns)
			conn.Close()
		}
	}
}

// serve connects a client with the engine until one of them ends.
func (a *analysts) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	ended := context.AfterFunc(ctx, func() { client.Close() })
	defer ended()
	_ = client.SetDeadline(time.Now().Add(helloTimeout)) // it is for the handshake of TLS too
	said, user, err := readHello(client)
	if err != nil || user != AnalystUser {
		a.log.Info("a connection for analysts was refused: only "+AnalystUser+" may use it, over the native protocol", "from", client.RemoteAddr(), "error", err)
		return
	}
	_ = client.SetDeadline(time.Time{})
	engine, err := a.dial(ctx, "")
	if err != nil {
		a.log.Warn("a connection of an analyst found no engine", "error", err)
		return
	}
	defer engine.Close()
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(client, onlyReader{engine})
		client.Close()
	})
	if _, err := engine.Write(said); err == nil {
		_, _ = io.Copy(onlyWriter{engine}, client)
	}
	engine.Close()
	answers.Wait()
}

// onlyReader and onlyWriter hide the other methods of a connection: io.Copy would use the
// socket below a gentleConn.
type (
	onlyReader struct{ io.Reader }
	onlyWriter struct{ io.Writer }
)

// maxHello bounds the beginning of a connection up to the user's name.
const maxHello = 4 << 10

var errNoHello = errors.New("it does not begin as a client of ClickHouse's native protocol does")

// readHello reads the first packet of the native protocol up to the user: the number 0,
// the client's name, three numbers of its version, the database and the user. said is what
// was read.
func readHello(from io.Reader) (said []byte, user string, err error) {
	h := hello{from: from}
	if h.number() != 0 {
		return nil, "", errNoHello
	}
	_ = h.text()
	for range 3 {
		_ = h.number()
	}
	_ = h.text()
	user = h.text()
	return h.said, user, h.err
}

// hello reads byte by byte, since what follows belongs to the engine.
type hello struct {
	from io.Reader
	said []byte
	err  error
}

func (h *hello) read(n uint64) []byte {
	if h.err != nil || n > maxHello-uint64(len(h.said)) {
		h.err = errors.Join(h.err, errNoHello)
		return nil
	}
	begin := len(h.said)
	h.said = append(h.said, make([]byte, n)...)
	if _, err := io.ReadFull(h.from, h.said[begin:]); err != nil {
		h.err = err
		return nil
	}
	return h.said[begin:]
}

// number reads an unsigned number of seven bits a byte.
func (h *hello) number() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := h.read(1)
		if h.err != nil {
			return 0
		}
		if n |= uint64(b[0]&0x7f) << shift; b[0] < 0x80 {
			return n
		}
	}
	h.err = errNoHello
	return 0
}

func (h *hello) text() string { return string(h.read(h.number())) }

// analystPassword is the password in the file, where it outlives a restart. It makes one
// when there is no such file.
func analystPassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		password := rand.Text()
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		return password, errors.Join(err, datadir.WriteFile(path, password+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("read the password for analysts: %w", err)
	}
	password := strings.TrimSpace(string(text))
	if len(password) < minAnalystPassword || strings.ContainsAny(password, "\r\n") {
		return "", fmt.Errorf("%s must hold one password of %d characters or more; remove it, and the next start makes another one", path, minAnalystPassword)
	}
	return password, nil
}

// minAnalystPassword is the least length of a password that an operator chooses: others
// may try passwords at the address for analysts.
const minAnalystPassword = 16
