package app

import (
	"context"
	"encoding/json"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/query"
)

// maxFeedCommands bounds the commands that one poll of the feed looks at. A
// script that deletes one record at a time makes a few hundred a second.
const maxFeedCommands = 500

// openFeed makes the feed of changes. It looks at the log and the records, not
// at this node's projector: whichever node folds, all tell the same.
func (a *App) openFeed(context.Context) (err error) {
	reader := query.New(a.engines.ReadOnlyClickHouse())
	reader.Heed(a.checker)
	a.feed, err = feed.New(feed.Config{
		Checkpoint: func(ctx context.Context) (uint64, error) {
			cp, err := a.projector.Store().Checkpoint(ctx)
			return cp.Sequence, err
		},
		Commands: a.feedCommands,
		Changed: func(ctx context.Context, s feed.Stretch, limit int) ([]errata.Record, uint64, error) {
			return reader.Changed(ctx, query.Changes{
				From: errata.PositionOf(s.After+1, 0), To: errata.PositionOf(s.Upto+1, 0),
				SeenFrom: s.SeenFrom, SeenTo: s.SeenTo,
			}, limit)
		},
		Live: func(ctx context.Context, keys []feed.Key) (map[feed.Key]errata.Record, error) {
			return liveRecords(ctx, reader, keys)
		},
		Follow: func(on func()) (func() error, error) {
			return eventlog.FollowProgress(a.stream(), func(eventlog.Progress) { on() })
		},
		Logger: a.logger,
	})
	return err
}

// maxLiveKeys bounds the records that one query asks for.
const maxLiveKeys = 5000

func liveRecords(ctx context.Context, reader *query.Reader, keys []feed.Key) (map[feed.Key]errata.Record, error) {
	found := map[feed.Key]errata.Record{}
	for len(keys) > 0 {
		n := min(len(keys), maxLiveKeys)
		asked := make([]query.Key, n)
		for i, key := range keys[:n] {
			asked[i] = query.Key(key)
		}
		live, err := reader.Live(ctx, asked)
		if err != nil {
			return nil, err
		}
		for key, record := range live {
			found[feed.Key(key)] = record
		}
		keys = keys[n:]
	}
	return found, nil
}

// feedCommands are the commands on the log that change records. One that
// cannot be read changed nothing.
func (a *App) feedCommands(ctx context.Context, after, upto uint64) ([]feed.Command, uint64, error) {
	facts, at, err := eventlog.CommandsBetween(ctx, a.stream(), after, upto, maxFeedCommands)
	if err != nil {
		return nil, 0, err
	}
	var list []feed.Command
	for _, f := range facts {
		c := feed.Command{Sequence: f.Sequence}
		var body eventlog.Signatures // of a status too
		switch f.Name {
		case eventlog.CommandDelete:
			if json.Unmarshal(f.Data, &body) == nil {
				c.Removes = bothBooks(body.Signatures)
			}
		case eventlog.CommandStatus:
			if json.Unmarshal(f.Data, &body) == nil {
				c.Touches = bothBooks(body.Signatures)
			}
		case eventlog.CommandCleanup:
			c.Removed = a.cleanedUp(ctx, f.Sequence)
		default:
			continue
		}
		list = append(list, c)
	}
	return list, at, nil
}

// cleanedUp is how many records a cleanup has removed; 1 when nobody knows, so
// that listeners learn that there was one.
func (a *App) cleanedUp(ctx context.Context, sequence uint64) uint64 {
	answer, _, err := a.projector.Store().Answer(ctx, sequence)
	var changed eventlog.Changed
	if err != nil || json.Unmarshal(answer, &changed) != nil {
		return 1
	}
	return changed.Total()
}

// bothBooks are the records that a command means by its signatures.
func bothBooks(signatures []string) []feed.Key {
	keys := make([]feed.Key, 0, len(errata.Books)*len(signatures))
	for _, text := range signatures {
		signature, err := errata.ParseSignature(text)
		if err != nil {
			continue
		}
		for _, book := range errata.Books {
			keys = append(keys, feed.Key{Book: book, Signature: signature})
		}
	}
	return keys
}

// changeFeed is the feed as the API sees it.
type changeFeed struct{ feed *feed.Feed }

var _ api.Feed = changeFeed{}

// Listen begins to listen.
func (f changeFeed) Listen(ctx context.Context) (api.Listener, error) {
	l, err := f.feed.Listen(ctx)
	if err != nil {
		return nil, err
	}
	return listener{l}, nil
}

type listener struct{ *feed.Listener }

// Take returns what changed since the last Take.
func (l listener) Take() api.RecordChanges {
	c := l.Listener.Take()
	changes := api.RecordChanges{Records: c.Records, More: c.More}
	for _, key := range c.Gone {
		changes.Gone = append(changes.Gone, api.RecordKey(key))
	}
	return changes
}
