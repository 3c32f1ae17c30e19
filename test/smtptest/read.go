package smtptest

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
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
	text = decode(t, message.Body, message.Header.Get("Content-Transfer-Encoding"))
	return subject, strings.TrimRight(text, "\r\n"), message.Header
}

// Part is one form of a mail, with line feeds alone.
type Part struct{ Type, Text string }

// Parts are the forms of a multipart/alternative mail, the plainest first.
func Parts(t testing.TB, data string) (parts []Part) {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("a mail of the type %s: %v", kind, err)
	}
	reader := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(params["charset"], "utf-8") {
			t.Fatalf("a part of the type %s in %s: %v", kind, params["charset"], err)
		}
		text := decode(t, part, part.Header.Get("Content-Transfer-Encoding"))
		parts = append(parts, Part{kind, strings.ReplaceAll(text, "\r\n", "\n")})
	}
}

func decode(t testing.TB, reader io.Reader, encoding string) string {
	t.Helper()
	switch encoding {
	case "quoted-printable":
		reader = quotedprintable.NewReader(reader)
	case "base64":
		reader = base64.NewDecoder(base64.StdEncoding, reader)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
