package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/datadir"
)

// copyVersion is the version of the file of copies.
const copyVersion = 1

// lastCopyTimeout bounds the copy that is made at a stop, at which NATS may be
// away.
const lastCopyTimeout = time.Second

// saved is one entry of the bucket: a key with the hash of its secret, the number of a
// project, or the key that users are hashed with.
type saved struct {
	Revision uint64          `json:"revision"`
	Value    json.RawMessage `json:"value"`
}

// savedKeys is the file of copies.
type savedKeys struct {
	Version int `json:"v"`
	// Bucket tells one bucket from another: when it was made, in Unix nanoseconds.
	Bucket int64 `json:"bucket"`
	// Last is a message that the bucket's stream reached, 0 if that is not known.
	Last    uint64           `json:"last,omitempty"`
	Entries map[string]saved `json:"entries"`
}

// Mended is what [Mend] found and did.
type Mended struct {
	// Damaged are the entries of the bucket that could not be read, or were older
	// than their copy; empty when nothing was done. History counts messages that
	// say what an entry was before.
	Damaged []string
	History int
	// Lost are those of Damaged that nobody has a copy of.
	Lost []string

	bucket string
}

// Tell says what was found and what to do, for an operator; "" when nothing was
// done.
func (m Mended) Tell() (detail, hint string) {
	if len(m.Damaged) == 0 && m.History == 0 {
		return "", ""
	}
	detail = fmt.Sprintf("the bucket of API keys (stream KV_%s) was damaged on the disk: %d entries (%s) and %d older states could not be read",
		m.bucket, len(m.Damaged), strings.Join(m.Damaged, ", "), m.History)
	if len(m.Lost) == 0 {
		return detail + "; all keys were written anew from the copy in " + datadir.KeyCopiesFile,
			"no key is missing; check the disk. The alarm ends with the next start"
	}
	return detail + "; there is no copy of " + strings.Join(m.Lost, ", "),
		"make new keys in their place (errata keys create; touch DATA/" + datadir.MakeKeysFile + " and restart when there is no admin key), and check the disk. The alarm ends with the next start"
}

// Mend makes the bucket of keys readable again after its file was damaged: it reads
// every entry, and where one is missing that was there, or an older state of it has
// come to light, all entries are written anew, the damaged ones from the copy that
// a Store keeps in copyFile. A key that was revoked stays revoked. It must be called
// while no Store is open on the bucket, by anybody.
func Mend(ctx context.Context, js jetstream.JetStream, bucket, copyFile string) (Mended, error) {
	m := mender{prefix: "$KV." + bucket + ".", found: map[string]saved{}, done: Mended{bucket: bucket}}
	var err error
	if m.stream, err = js.Stream(ctx, "KV_"+bucket); err != nil {
		return Mended{}, fmt.Errorf("open the bucket of API keys: %w", err)
	}
	if m.bucket, err = js.KeyValue(ctx, bucket); err != nil {
		return Mended{}, fmt.Errorf("open the bucket of API keys: %w", err)
	}
	if err := m.read(ctx); err != nil {
		return Mended{}, fmt.Errorf("look through the API keys: %w", err)
	}
	copies, err := readCopies(copyFile)
	if err != nil || copies.Bucket != m.made {
		copies = savedKeys{} // of another bucket, or damaged as well
	}
	for name, kept := range copies.Entries {
		if m.found[name].Revision < kept.Revision {
			m.done.Damaged = append(m.done.Damaged, name)
			m.found[name] = kept
		}
	}
	slices.Sort(m.done.Damaged)
	m.done.Damaged = slices.Compact(m.done.Damaged)
	for _, name := range m.done.Damaged {
		if _, ok := m.found[name]; !ok && !strings.HasPrefix(name, usedPrefix) {
			m.done.Lost = append(m.done.Lost, name)
		}
	}
	if m.lastGone(copies.Last) {
		m.done.History++
	}
	if len(m.done.Damaged) == 0 && m.done.History == 0 {
		return Mended{}, nil
	}
	if err := m.writeAnew(ctx, copyFile); err != nil {
		return m.done, fmt.Errorf("write the API keys anew: %w", err)
	}
	return m.done, nil
}

// mender is one run of Mend.
type mender struct {
	stream jetstream.Stream
	bucket jetstream.KeyValue
	prefix string
	made   int64
	last   uint64           // sequence of the stream, as the server knows it
	end    uint64           // sequence of the last message that can be read, 0 for none
	found  map[string]saved // what is to stand in the bucket, by name
	done   Mended
}

// read finds every entry that can be read, and which cannot. A message whose
// checksum is wrong is none for the server, which still knows its subject.
func (m *mender) read(ctx context.Context) error {
	info, err := m.stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return err
	}
	m.made, m.last = info.Created.UnixNano(), info.State.LastSeq
	for subject := range info.State.Subjects {
		name := strings.TrimPrefix(subject, m.prefix)
		msg, err := m.stream.GetLastMsgForSubject(ctx, subject)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			m.done.Damaged = append(m.done.Damaged, name)
		case err != nil:
			return err
		case msg.Header.Get("KV-Operation") == "":
			m.found[name] = saved{Revision: msg.Sequence, Value: msg.Data}
		default: // it was removed
			m.found[name] = saved{Revision: msg.Sequence}
		}
	}
	readable := 0
	for next := uint64(1); ; readable++ {
		msg, err := m.stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(">"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return err
		}
		m.end, next = msg.Sequence, msg.Sequence+1
	}
	m.done.History = max(int(info.State.Msgs)-readable-len(m.done.Damaged), 0)
	return nil
}

// lastGone says whether the last message is missing, and no entry with it. Such a
// message says when a key was used last: other entries have a copy, and count as
// damaged. The stream never drops its last message. reached is a sequence that the
// stream had when the copies were written.
func (m *mender) lastGone(reached uint64) bool {
	return m.end > 0 && m.end < max(m.last, reached) && len(m.done.Damaged) == 0 && m.done.History == 0
}

// writeAnew empties the bucket and writes what was found. It stands in the file of
// copies before, for a crash in between.
func (m *mender) writeAnew(ctx context.Context, copyFile string) error {
	kept := savedKeys{Version: copyVersion, Bucket: m.made, Entries: map[string]saved{}}
	for name, entry := range m.found {
		if isKept(name) && entry.Value != nil {
			kept.Entries[name] = entry
		}
	}
	if err := writeCopies(copyFile, kept); err != nil {
		return err
	}
	if err := m.stream.Purge(ctx); err != nil {
		return err
	}
	names := slices.SortedFunc(maps.Keys(m.found), func(a, b string) int {
		return cmp.Compare(m.found[a].Revision, m.found[b].Revision)
	})
	for _, name := range names {
		value := []byte(m.found[name].Value)
		if value == nil {
			continue
		}
		if id, isKey := strings.CutPrefix(name, keyPrefix); isKey {
			// The audit trail shows that the service wrote it, not who made the key.
			if r, err := parseRecord(id, value); err == nil {
				r.By = errata.Actor{KeyID: errata.ActorService}
				if value, err = json.Marshal(r); err != nil {
					return err
				}
			}
		}
		if _, err := m.bucket.Put(ctx, name, value); err != nil {
			return err
		}
	}
	return nil
}

// isKept says whether an entry stands in the file of copies: when a key was used
// last does not.
func isKept(name string) bool {
	return strings.HasPrefix(name, keyPrefix) || strings.HasPrefix(name, projectPrefix) || name == userKeyEntry
}

func readCopies(path string) (savedKeys, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return savedKeys{}, nil
	}
	var kept savedKeys
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil && kept.Version != copyVersion {
		err = fmt.Errorf("its version is %d", kept.Version)
	}
	if err != nil {
		return savedKeys{}, fmt.Errorf("read the copies of the API keys in %s: %w", path, err)
	}
	return kept, nil
}

// writeCopies replaces the file. It holds hashes of secrets and the key that users are
// hashed with, and is for nobody else.
func writeCopies(path string, kept savedKeys) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("write the copies of the API keys: %w", err)
	}
	return datadir.WriteFile(path, string(text))
}

// keepCopies writes the file whenever a key changes, and once more when ctx ends.
// The last time is for [savedKeys.Last]: the bucket also grows when a key is used.
// It does nothing when path is "".
func (s *Store) keepCopies(ctx context.Context, path string) {
	for path != "" {
		snap := s.current.Load()
		if err := s.copyEntries(ctx, path, snap); err != nil && ctx.Err() == nil {
			s.logger.Warn("there is no copy of the latest API keys", "error", err)
		}
		select {
		case <-snap.replaced:
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCopyTimeout)
			defer cancel()
			if err := s.copyEntries(ctx, path, s.current.Load()); err != nil {
				s.logger.Debug("the copy of the API keys is that of their last change", "error", err)
			}
			return
		}
	}
}

func (s *Store) copyEntries(ctx context.Context, path string, snap *snapshot) error {
	status, err := s.bucket.Status(ctx)
	if err != nil {
		return err
	}
	made, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return fmt.Errorf("the bucket's status is a %T", status)
	}
	kept := savedKeys{
		Version: copyVersion, Bucket: made.StreamInfo().Created.UnixNano(), Last: made.StreamInfo().State.LastSeq, Entries: map[string]saved{},
	}
	var names []string
	for id := range snap.byID {
		names = append(names, keyPrefix+id)
	}
	for number := range snap.projects {
		names = append(names, fmt.Sprint(projectPrefix, number))
	}
	if snap.userKey != nil {
		names = append(names, userKeyEntry)
	}
	for _, name := range names {
		entry, err := s.bucket.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		kept.Entries[name] = saved{Revision: entry.Revision(), Value: entry.Value()}
	}
	return writeCopies(path, kept)
}
