package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/natsin"
	"github.com/errata-log/errata/migrations"
)

// maxReplicas is the most that JetStream keeps of a stream.
const maxReplicas = 5

// validateNATS names the first of the settings of the NATS way in that cannot
// be used.
func (o Options) validateNATS() error {
	if o.NATSProject == 0 {
		return fmt.Errorf("nats-project: want the number of a project, from 1 up")
	}
	if o.NATSReplicas < 0 || o.NATSReplicas > maxReplicas {
		return fmt.Errorf("nats-replicas: %d is not from 1 to %d", o.NATSReplicas, maxReplicas)
	}
	if o.NATSReplicas > 1 && o.NATSURL == "" {
		return fmt.Errorf("nats-replicas: the embedded NATS is one server; name those of a cluster in nats-url")
	}
	for _, listen := range []struct{ name, addr, instead string }{
		{"nats-listen", o.NATSListen, "let applications publish there"},
		{"nats-leaf-listen", o.NATSLeafListen, "let ingest nodes connect to a service with the embedded one"},
	} {
		if listen.addr == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(listen.addr); err != nil || port == "" {
			return fmt.Errorf("%s: %q is not host:port, such as 127.0.0.1:4222 or :4222", listen.name, listen.addr)
		}
		if o.NATSURL != "" {
			return fmt.Errorf("%s: it opens the embedded NATS, and nats-url names another one; %s", listen.name, listen.instead)
		}
		if o.NATSLeaf != "" {
			return fmt.Errorf("%s: nats-leaf makes this an ingest node, which takes events over HTTP only", listen.name)
		}
	}
	return o.validateLeaf()
}

// openIngest makes the one pipeline that all ways in share.
func (a *App) openIngest(context.Context) (err error) {
	a.pipeline, err = ingest.New(ingest.Config{
		Log: a.log, Random: rand.Reader,
		Rules:    a.rules,
		Switches: a.switches,
		Logger:   a.logger, Registerer: a.options.Registry,
	})
	return err
}

// startNATSIn begins to take what applications publish, to whatever NATS there is.
func (a *App) startNATSIn(ctx context.Context) error {
	kept, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	a.letters = letters{natsin.NewLetters(a.queues(), a.rules)}
	receiver, err := natsin.New(natsin.Config{
		Queues: a.queues(), Log: a.stream(), Accepter: a.pipeline, Rules: a.rules, Kept: kept, Project: a.options.NATSProject, Quotas: a.quotas,
		Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry, Skipped: a.strays.In("log"),
	})
	if err != nil {
		return err
	}
	receiver.Start()
	a.cleanups.add("events from NATS", receiver.Stop)
	return nil
}

// queues says where published events and refused messages are.
func (a *App) queues() natsin.Queues {
	return natsin.Queues{
		JetStream: a.engines.JetStream(), Prefix: migrations.SubjectPrefix(a.options.Namespace),
		Intake: migrations.IntakeStream(a.options.Namespace), Dead: migrations.DeadStream(a.options.Namespace),
	}
}

// letters are the refused messages as the API sees them.
type letters struct{ stream *natsin.Letters }

var _ api.Letters = letters{}

// List is one page, oldest first.
func (l letters) List(ctx context.Context, after uint64, limit int) ([]api.Letter, uint64, error) {
	found, total, err := l.stream.List(ctx, after, limit)
	list := make([]api.Letter, 0, len(found))
	for _, f := range found {
		list = append(list, api.Letter{ID: f.ID, At: f.At, Subject: f.Subject, Reason: f.Reason, Message: f.Why, Body: f.Body, Cut: f.Cut})
	}
	return list, total, err
}

// Replay publishes letters again.
func (l letters) Replay(ctx context.Context, ids []uint64) (int, []api.LetterNote, error) {
	return told(l.stream.Replay(ctx, ids))
}

// Drop removes letters.
func (l letters) Drop(ctx context.Context, ids []uint64) (int, []api.LetterNote, error) {
	return told(l.stream.Drop(ctx, ids))
}

func told(done int, left []natsin.LetterNote, err error) (int, []api.LetterNote, error) {
	var notes []api.LetterNote
	for _, n := range left {
		notes = append(notes, api.LetterNote{ID: n.ID, Reason: n.Why})
	}
	return done, notes, err
}
