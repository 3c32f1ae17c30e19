package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

// journal is the referee's raw log, to check a verdict by hand: one line with
// the outcome for every request of a client and every fault.
type journal struct {
	begin time.Time

	mu   sync.Mutex
	file *os.File
	zip  *gzip.Writer
	out  *bufio.Writer
	err  error
}

func newJournal(path string) (*journal, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make the raw log: %w", err)
	}
	zip := gzip.NewWriter(file)
	return &journal{begin: time.Now(), file: file, zip: zip, out: bufio.NewWriterSize(zip, 1<<16)}, nil
}

// line is one entry; fields that do not apply are left out.
type line struct {
	MS      int64   `json:"ms"` // since the gate began
	Fault   string  `json:"fault,omitempty"`
	Sender  int     `json:"sender,omitempty"`
	From    int     `json:"from,omitempty"` // number of the first event
	N       int     `json:"n,omitempty"`
	Command string  `json:"command,omitempty"` // of an owner
	Code    int     `json:"code,omitempty"`
	Outcome outcome `json:"outcome,omitempty"`
	Error   string  `json:"error,omitempty"`
	TookMS  int64   `json:"took_ms,omitempty"`
}

// events are the numbers of one request, which follow each other.
func (j *journal) events(events []referee.Event, code int, got outcome, err error, took time.Duration) {
	l := line{Code: code, Outcome: got, TookMS: took.Milliseconds(), N: len(events)}
	if len(events) > 0 {
		l.Sender, l.From = events[0].Sender, events[0].N
	}
	if err != nil {
		l.Error = err.Error()
	}
	j.write(l)
}

func (j *journal) command(text string, err error) {
	l := line{Command: text, Outcome: accepted}
	if err != nil {
		l.Outcome, l.Error = unknown, err.Error()
	}
	j.write(l)
}

func (j *journal) fault(text string) { j.write(line{Fault: text}) }

func (j *journal) write(l line) {
	l.MS = time.Since(j.begin).Milliseconds()
	text, err := json.Marshal(l)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		_, err = j.out.Write(append(text, '\n'))
	}
	j.err = errors.Join(j.err, err)
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.err, j.out.Flush(), j.zip.Close(), j.file.Close()); err != nil {
		return fmt.Errorf("write the raw log: %w", err)
	}
	return nil
}
