package backup

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// frame is a piece of a backup on its way from the service to who writes it.
type frame struct {
	// Name is the path of a file in the backup, and Begins says that the file begins
	// here: what came of it before was a try that failed.
	Name   string
	Begins bool
	Data   []byte
	// Done is in the last frame. Failed says why there is no backup, "" for success.
	Done   bool
	Failed string
}

const (
	// frameBytes bounds the data of a frame.
	frameBytes = 256 << 10
	// stalled is how long one frame may wait for a reader whose disk is slow.
	stalled = 2 * time.Minute
)

// sender writes frames to a connection.
type sender struct {
	conn net.Conn
	enc  *gob.Encoder
}

func newSender(conn net.Conn) *sender { return &sender{conn: conn, enc: gob.NewEncoder(conn)} }

func (s *sender) send(f frame) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return err
	}
	return s.enc.Encode(f)
}

// file begins a file and returns where to write it.
func (s *sender) file(name string) (io.Writer, error) {
	return part{s, name}, s.send(frame{Name: name, Begins: true})
}

// part writes one file.
type part struct {
	*sender
	name string
}

func (p part) Write(data []byte) (n int, err error) {
	for n < len(data) {
		end := min(len(data), n+frameBytes)
		if err := p.send(frame{Name: p.name, Data: data[n:end]}); err != nil {
			return n, err
		}
		n = end
	}
	return n, nil
}

// copyFile sends a file of this machine.
func (s *sender) copyFile(name, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := s.file(name)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, frameBytes))
	return err
}

// receive calls take for each frame until the last one.
func receive(conn io.Reader, take func(frame) error) error {
	dec := gob.NewDecoder(conn)
	for {
		var f frame
		if err := dec.Decode(&f); err != nil {
			return fmt.Errorf("the service broke off: %w", err)
		}
		switch {
		case f.Failed != "":
			return errors.New(f.Failed)
		case f.Done:
			return nil
		case !filepath.IsLocal(f.Name):
			return fmt.Errorf("the service sends the file %q", f.Name)
		}
		if err := take(f); err != nil {
			return err
		}
	}
}
