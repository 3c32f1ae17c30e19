package main

import (
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/errata-log/errata/app"
)

// firstBanner is for the first start: where the service is, what each key may do, and
// commands to try. All of them must run as they are printed.
var firstBanner = template.Must(template.New("first").Funcs(bannerFuncs).Parse(`
Errata is ready at {{.URL}}

  Admin key    {{.AdminKeyFile}}
               reads and changes everything; for people and "errata keys"
  Ingest key   {{.IngestKeyFile}}
               sends errors and nothing else; for applications
  Sentry DSN   {{.DSN}}
               of the project "default"; for any Sentry SDK, unchanged
{{if .NATSFile}}  NATS         {{.NATSFile}}
               publishes errors to NATS and nothing else; for applications
{{end}}{{if .NotReachable}}
  The DSN names this machine only. For applications elsewhere set --public-url.
{{end}}
Send a first error:

  curl -sS {{.URL | quote}}/api/v1/events \
    -H "Authorization: Bearer $(cat {{.IngestKeyFile | quote}})" \
    -H 'Content-Type: application/json' \
    -d '{"message":"Hello, Errata","exception_class":"FirstError","level":"error","file":"hello.go","line":1}'

See it at {{.URL}} in a browser, signed in with the admin key, or in the list:

  curl -sS {{.URL | quote}}/api/v1/admin/tools/logs/errors \
    -H "Authorization: Bearer $(cat {{.AdminKeyFile | quote}})"

Tell the command "errata" in this shell where the service is and which key to use:

  export ERRATA_KEY="$(cat {{.AdminKeyFile | quote}})" ERRATA_URL={{.URL | quote}}

Make a project for each application, which prints its DSN and code for its platform:

  {{.Program | quote}} projects create "Web shop" --platform python

`))

var laterBanner = template.Must(template.New("later").Funcs(bannerFuncs).Parse(
	`Errata is ready at {{.URL}}{{if .DSN}}   DSN {{.DSN}}{{end}}{{if .AdminKeyFile}}   admin key in {{.AdminKeyFile}}{{end}}{{if .NATSFile}}   NATS in {{.NATSFile}}{{end}}
`))

var leafBanner = template.Must(template.New("leaf").Parse(
	`Errata takes events at {{.URL}} and keeps them until its hub has them. Keys and records are at the hub.
`))

var bannerFuncs = template.FuncMap{"quote": shellQuote}

// printBanner tells the operator where the service is. It names the files of the keys and
// shows no key; a DSN is no secret, because applications publish it. program is the
// command with which this process was started, for the commands that the banner shows.
func printBanner(w io.Writer, program string, welcome app.Welcome) error {
	banner := laterBanner
	switch {
	case welcome.Leaf:
		banner = leafBanner
	case welcome.First:
		banner = firstBanner
	}
	about := struct {
		app.Welcome
		Program string
	}{welcome, program}
	if err := banner.Execute(w, about); err != nil {
		return fmt.Errorf("print where the service is: %w", err)
	}
	return nil
}

// shellQuote makes text one word of a POSIX shell, with quotes only where it has
// special characters.
func shellQuote(text string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/.:_-+@%", r))
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
