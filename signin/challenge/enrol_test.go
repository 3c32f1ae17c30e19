package challenge_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin/challenge"
)

// texts reads a bucket as text.
type texts struct{ bucket jetstream.KeyValue }

func (x texts) Keys(ctx context.Context) ([]string, error) { return x.bucket.Keys(ctx) }

func (x texts) Get(ctx context.Context, key string) (string, error) {
	entry, err := x.bucket.Get(ctx, key)
	if err != nil {
		return "", err
	}
	return string(entry.Value()), nil
}

func (b *bench) enrol(t *testing.T, account string) challenge.App {
	t.Helper()
	app, err := b.Enrol(t.Context(), account, account)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func (b *bench) ask(t *testing.T, confirm bool, account, code string, want challenge.Outcome) {
	t.Helper()
	ask := b.VerifyApp
	if confirm {
		ask = b.Confirm
	}
	if verdict, err := ask(t.Context(), challenge.Answer{Account: account, Code: code}); err != nil || verdict.Outcome != want {
		t.Errorf("%s (confirm %t): %+v, error %v, want %s", code, confirm, verdict, err, want)
	}
}

func (b *bench) enrolled(t *testing.T, account string, want bool) {
	t.Helper()
	if got, err := b.Enrolled(t.Context(), account); err != nil || got != want {
		t.Errorf("%s is enrolled: %t, error %v, want %t", account, got, err, want)
	}
}

func TestAppFromEnrolmentToRemoval(t *testing.T) {
	b := newBench(t)
	b.ask(t, false, "ann", "123456", challenge.NotEnrolled)
	b.ask(t, true, "ann", "123456", challenge.NotEnrolled)
	first := b.enrol(t, "ann")
	app := b.enrol(t, "ann") // shown again, so another one
	if app.Secret == first.Secret || app.String() == app.Secret {
		t.Error("the secret is the same, or is shown")
	}
	b.enrolled(t, "ann", false)
	b.ask(t, false, "ann", shown(t, app.Secret, start), challenge.NotEnrolled) // opens nothing yet
	b.ask(t, true, "ann", shown(t, first.Secret, start), challenge.Wrong)
	b.ask(t, true, "ann", "12345", challenge.Malformed)
	b.ask(t, true, "ann", shown(t, app.Secret, start), challenge.Passed)
	b.enrolled(t, "ann", true)
	b.enrolled(t, "bob", false)
	if _, err := b.Enrol(t.Context(), "ann", "ann"); errata.KindOf(err) != errata.KindAlreadyEnrolled {
		t.Errorf("error %v, want already_enrolled", err)
	}
	b.ask(t, false, "ann", shown(t, app.Secret, start), challenge.Used) // it has confirmed
	b.clock.Move(30 * time.Second)
	now := b.clock.Now()
	b.ask(t, false, "bob", shown(t, app.Secret, now), challenge.NotEnrolled)
	b.ask(t, false, "ann", shown(t, app.Secret, now), challenge.Passed)
	b.ask(t, false, "ann", shown(t, app.Secret, now), challenge.Used)
	b.ask(t, true, "ann", shown(t, app.Secret, now), challenge.Unknown) // confirmed before
	for range 2 {
		if err := b.Remove(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
	}
	b.clock.Move(30 * time.Second)
	b.ask(t, false, "ann", shown(t, app.Secret, b.clock.Now()), challenge.NotEnrolled)
	again := b.enrol(t, "ann")
	b.ask(t, true, "ann", shown(t, again.Secret, b.clock.Now()), challenge.Passed)
	b.clock.Move(time.Hour)
	late := b.enrol(t, "bob")
	b.clock.Move(time.Hour)
	b.ask(t, true, "bob", shown(t, late.Secret, b.clock.Now()), challenge.NotEnrolled)
}

// One code, fifty at once: one passes.
func TestAppCodeAtOnce(t *testing.T) {
	b := newBench(t)
	app := b.enrol(t, "ann")
	b.ask(t, true, "ann", shown(t, app.Secret, start), challenge.Passed)
	b.clock.Move(30 * time.Second)
	code := shown(t, app.Secret, b.clock.Now())
	outcomes := b.atOnce(t, 50, func(int) (challenge.Verdict, error) {
		return b.VerifyApp(t.Context(), challenge.Answer{Account: "ann", Code: code})
	})
	if outcomes[challenge.Passed] != 1 || outcomes[challenge.Used]+outcomes["rate_limited"] != 49 || outcomes[challenge.Used] > 11 {
		t.Errorf("outcomes %v, want one passed", outcomes)
	}
}

// Guesses at an app are bounded over time, as there is no challenge to use up.
func TestAppGuessesAreBounded(t *testing.T) {
	b := newBench(t)
	app := b.enrol(t, "ann")
	b.ask(t, true, "ann", shown(t, app.Secret, start), challenge.Passed)
	for range 10 {
		b.ask(t, false, "ann", wrong(shown(t, app.Secret, start.Add(time.Hour))), challenge.Wrong)
	}
	_, err := b.VerifyApp(t.Context(), challenge.Answer{Account: "ann", Code: shown(t, app.Secret, start)})
	limited(t, err, 5*time.Minute)
}
