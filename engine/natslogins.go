package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/errata-log/errata/datadir"
)

// nodeIDSize is how many random characters the id of an ingest node has; each has 5
// bits.
const nodeIDSize = 16

// readLogins reads the passwords and the id from the data folder, where they outlive
// a restart, and makes those that are missing.
func (c *NATSConfig) readLogins(dir *datadir.Dir) (err error) {
	if c.Clients.Addr != "" {
		if c.Clients.Password, err = passwordOf(dir.Join(datadir.NATSFile)); err != nil {
			return err
		}
	}
	if c.Leaves.Addr != "" {
		if c.Leaves.Password, err = passwordOf(dir.Join(datadir.LeafFile)); err != nil {
			return err
		}
	}
	if c.Hub.URL != "" {
		c.Hub.ID, err = nodeID(dir.Join(datadir.LeafIDFile))
	}
	return err
}

// WriteLogins writes [datadir.NATSFile] for applications and [datadir.LeafFile] for
// ingest nodes, where the embedded NATS is open to them.
func (e *Engines) WriteLogins() error {
	if e.cfg.NATSListen != "" {
		addr := e.NATS.ClientsAddr()
		if addr == nil {
			return errors.New("engine: the embedded NATS does not listen for applications")
		}
		if err := writeLogin(e.cfg.path(datadir.NATSFile), ClientUser, e.NATS.cfg.Clients.Password, e.reached(addr.String())); err != nil {
			return err
		}
	}
	if e.cfg.NATSLeafListen != "" {
		addr := e.NATS.LeavesAddr()
		if addr == "" {
			return errors.New("engine: the embedded NATS does not listen for ingest nodes")
		}
		return writeLogin(e.cfg.path(datadir.LeafFile), LeafUser, e.NATS.cfg.Leaves.Password, e.reached(addr))
	}
	return nil
}

// reached is where others reach an address of the embedded NATS: by a host of its
// certificate, if it has one.
func (e *Engines) reached(addr string) url.URL {
	host := e.certs.Host()
	if host == "" {
		return url.URL{Scheme: "nats", Host: datadir.LocalAddr(addr)}
	}
	_, port, _ := net.SplitHostPort(addr)
	return url.URL{Scheme: "tls", Host: net.JoinHostPort(host, port)}
}

func writeLogin(path, user, password string, u url.URL) error {
	u.User = url.UserPassword(user, password)
	return datadir.WriteFile(path, u.String()+"\n")
}

// passwordOf is the password in the URL of the file, a new one when there is no such
// file.
func passwordOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newPassword(), nil
	}
	if err != nil {
		return "", fmt.Errorf("read a password of NATS: %w", err)
	}
	u, err := url.Parse(strings.TrimSpace(string(text)))
	if err == nil {
		if password, ok := u.User.Password(); ok && password != "" {
			return password, nil
		}
	}
	return "", fmt.Errorf("%s holds no URL with a password; remove it, and the next start makes another one", path)
}

// nodeID is the id in the file. When there is no such file, it makes an id and writes
// it.
func nodeID(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := strings.ToLower(rand.Text()[:nodeIDSize])
		return id, datadir.WriteFile(path, id+"\n")
	}
	if err != nil {
		return "", fmt.Errorf("read the id of this node: %w", err)
	}
	id := strings.TrimSpace(string(text))
	if !leafID.MatchString(id) {
		return "", fmt.Errorf("%s holds no id of a node: restore it, or remove it once the spool is empty", path)
	}
	return id, nil
}
