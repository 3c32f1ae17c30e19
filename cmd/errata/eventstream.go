package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// errStreamEnded is the end of a stream, which does not end by itself.
var errStreamEnded = errors.New("the service ended the stream")

// streamMessage is one message of a stream of server-sent events.
type streamMessage struct{ event, data string }

// readStream reads messages until the stream ends or each returns an error. A message that
// breaks off is left out. It calls alive for every line, also for the comments of a quiet
// stream.
func readStream(r io.Reader, alive func(), each func(streamMessage) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	var m streamMessage
	var data []string
	for lines.Scan() {
		alive()
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			if m.data = strings.Join(data, "\n"); data != nil {
				if err := each(m); err != nil {
					return err
				}
			}
			m, data = streamMessage{}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			m.event = value
		case "data":
			data = append(data, value)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errStreamEnded
}
