package main

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// firstError is code that sends a first error: what to install, and the code, where
// %s is the DSN.
type firstError struct {
	language  string
	platforms []string // what names of platforms begin with
	install   string
	code      string
}

// The admin page shows the same code, see web/src/lib/snippets.ts.
var firstErrors = []firstError{
	{"Go", []string{"go", "golang"}, "go get github.com/getsentry/sentry-go", `err := sentry.Init(sentry.ClientOptions{
	Dsn: "%s",
})
if err != nil {
	log.Fatal(err)
}
defer sentry.Flush(2 * time.Second)

sentry.CaptureException(errors.New("my first error"))`},
	{"PHP", []string{"php", "laravel", "symfony", "wordpress", "drupal"}, "composer require sentry/sentry", `\Sentry\init(['dsn' => '%s']);

\Sentry\captureException(new \RuntimeException('my first error'));`},
	{"Node.js", []string{"node", "nodejs", "deno", "bun", "express", "nestjs", "javascript-nextjs"}, "npm install @sentry/node", `import * as Sentry from '@sentry/node';

Sentry.init({ dsn: '%s' });

Sentry.captureException(new Error('my first error'));
await Sentry.flush(2000);`},
	{"JavaScript", []string{"javascript", "typescript", "js", "browser", "react", "vue", "angular", "svelte"}, "npm install @sentry/browser", `import * as Sentry from '@sentry/browser';

Sentry.init({ dsn: '%s' });

Sentry.captureException(new Error('my first error'));`},
	{"Python", []string{"python", "django", "flask", "fastapi"}, "pip install sentry-sdk", `import sentry_sdk

sentry_sdk.init(dsn="%s")

sentry_sdk.capture_exception(RuntimeError("my first error"))`},
}

// firstErrorFor tells how an application of the platform sends its first error to a
// DSN; for a platform that is not known, how a shell does.
func firstErrorFor(platform, dsn string) string {
	for _, known := range firstErrors {
		for _, begin := range known.platforms {
			if platform == begin || strings.HasPrefix(platform, begin+"-") {
				return fmt.Sprintf("Send a first error from %s, after %s:\n\n%s\n", known.language, known.install, indented(fmt.Sprintf(known.code, dsn)))
			}
		}
	}
	return fmt.Sprintf("Send a first error from a shell:\n\n%s\n", indented(storeCommand(dsn)))
}

// storeCommand is a command of a shell that sends an error with nothing but a DSN.
func storeCommand(dsn string) string {
	at, err := url.Parse(dsn)
	if err != nil || at.User == nil {
		return "" // the service has made it
	}
	folder, project := path.Split(at.Path)
	to := fmt.Sprintf("%s://%s%sapi/%s/store/?sentry_key=%s", at.Scheme, at.Host, folder, project, at.User.Username())
	return "curl -sS " + shellQuote(to) + " \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"message\":\"my first error\",\"level\":\"error\"}'"
}

// indented puts two spaces before each line that has text.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}
