package smtptest

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
)

// Parse reads a mail as a mail program does. The text has no line ends after it.
func Parse(t testing.TB, data string) (subject, text string, header mail.Header) {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	reader := message.Body
	switch encoding := message.Header.Get("Content-Transfer-Encoding"); encoding {
	case "quoted-printable":
		reader = quotedprintable.NewReader(reader)
	case "base64":
		reader = base64.NewDecoder(base64.StdEncoding, reader)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return subject, strings.TrimRight(string(body), "\r\n"), message.Header
}
