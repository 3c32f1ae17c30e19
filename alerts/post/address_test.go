package post

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/errata-log/errata/alerts/render"
)

func TestIsClosed(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "169.254.0.1",
		"100.64.0.1", "100.127.255.255", "100.100.100.200", "192.0.0.192", "168.63.129.16", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2001::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1", // mapped, and the old form
		"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", // NAT64
		"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1", // 6to4
		"2001:db8:1:2:0:5efe:10.0.0.1", "2001:db8:1:2:200:5efe:7f00:1", // ISATAP
	} {
		if !isClosed(netip.MustParseAddr(text)) {
			t.Errorf("%s is not closed", text)
		}
	}
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "100.63.255.255", "100.128.0.0",
		"169.253.255.255", "169.255.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
		"2001:4860:1:2:0:5efe:808:808",
	} {
		if isClosed(netip.MustParseAddr(text)) {
			t.Errorf("%s is closed", text)
		}
	}
	if !isClosed(netip.Addr{}) {
		t.Error("no address is not closed")
	}
}

func TestControl(t *testing.T) {
	for _, c := range []struct {
		network, address string
		fine             bool
	}{
		{"tcp4", "8.8.8.8:443", true}, {"tcp6", "[2606:4700:4700::1111]:443", true}, {"tcp4", "127.0.0.1:443", false}, {"tcp6", "[::1]:80", false},
		{"tcp6", "[fe80::1%eth0]:80", false}, {"udp4", "8.8.8.8:443", false}, {"unix", "/run/docker.sock", false}, {"tcp4", "localhost:80", false},
	} {
		if err := control(t.Context(), c.network, c.address, nil); (err == nil) != c.fine {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
}

func TestAllowHosts(t *testing.T) {
	allow, err := parseAllowed([]string{"chat.internal", "Hooks.Internal.:8443", "10.0.0.7", "10.0.0.8:8065", "[fd00::1]:80", "fd00::2", "[fd00::3]", "::ffff:10.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"chat.internal:443": true, "CHAT.internal.:80": true, "chat.internal.evil.example:443": false, "evil-chat.internal:443": false,
		"hooks.internal:8443": true, "hooks.internal:443": false, "10.0.0.7:80": true, "10.0.0.8:8065": true, "10.0.0.8:80": false,
		"[fd00::1]:80": true, "[fd00:0::1]:80": true, "[fd00::1]:81": false, "[fd00::2]:443": true, "[fd00::3]:443": true, "10.0.0.9:80": true, "10.0.0.7": false,
	} {
		if allow.has(address) != want {
			t.Errorf("%s: allowed %t, want %t", address, !want, want)
		}
	}
	for _, text := range []string{"", " ", "https://chat.internal", "chat.internal/x", "chat.internal:", "chat.internal:http", "chat.internal:0", "chat.internal:70000", "a@b", "*.internal", "a b", ":80", "ü.example"} {
		if _, err := New(Config{AllowHosts: []string{text}}); err == nil || !strings.Contains(err.Error(), "AllowHosts") {
			t.Errorf("%q: %v, want an error that names AllowHosts", text, err)
		}
	}
}

// errSeen stops a connection that would have been made.
var errSeen = errors.New("stopped by the test")

// A name that leads to a public address when it is looked up first, and to this machine
// the next time, is refused the next time: what counts is the address of the connection.
func TestANameThatChangesItsAddress(t *testing.T) {
	const public, private = "93.184.215.14", "127.0.0.1"
	for name, answers := range map[string][][]string{
		"from one try to the next": {{public}, {private}},
		"in one answer":            {{public, private}},
	} {
		t.Run(name, func(t *testing.T) {
			dns := &dnsDouble{answers: answers}
			s, err := New(Config{Resolver: dns.resolver()})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			would := map[string]error{}
			s.dialer.ControlContext = func(ctx context.Context, network, address string, raw syscall.RawConn) error {
				err := control(ctx, network, address, raw)
				mu.Lock()
				defer mu.Unlock()
				would[address] = err
				if err == nil {
					return errSeen
				}
				return err
			}
			for range answers {
				if o := s.Send(t.Context(), render.Request{Kind: "webhook", URL: "https://rebind.example/hook"}); o.OK || o.Err == "" {
					t.Errorf("outcome %+v", o)
				}
			}
			if len(would) != 2 || would[public+":443"] != nil {
				t.Errorf("addresses %v, want the public one to be fine", would)
			}
			if _, ok := errors.AsType[*addressError](would[private+":443"]); !ok {
				t.Errorf("addresses %v, want the private one to be refused", would)
			}
		})
	}
}

// dnsDouble answers the questions for IPv4 addresses in turn.
type dnsDouble struct {
	mu      sync.Mutex
	asked   int
	answers [][]string
}

func (d *dnsDouble) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go d.serve(server) // ends when the resolver closes its side
		return client, nil
	}}
}

// serve answers one question in the form of TCP, which a pipe is for the resolver.
func (d *dnsDouble) serve(conn net.Conn) {
	defer conn.Close()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, question); err != nil {
		return
	}
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if q.Type == dnsmessage.TypeA {
		d.mu.Lock()
		answer := d.answers[min(d.asked, len(d.answers)-1)]
		d.asked++
		d.mu.Unlock()
		for _, text := range answer {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
			})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return
	}
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
}
