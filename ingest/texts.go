package ingest

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/minio/highwayhash"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/scrub"
)

// texts are the texts that the payload and the trail of an event share, cleaned and
// scrubbed once.
type texts struct {
	clientID, user               string
	server, transaction, traceID string
	tags                         []errata.Tag // each key once, at most MaxTags
	moreTags                     bool
}

// texts are those of the draft. Where a project keeps no users, they name none.
func (r *Rules) texts(d *Draft, src *Source, w *workshop) texts {
	c := &d.Context
	t := texts{
		clientID: r.Text(d.ClientID, MaxTag, false), server: r.Text(c.ServerName, MaxName, false),
		transaction: r.Text(c.Transaction, MaxName, false), traceID: r.Text(c.TraceID, MaxName, false),
		moreTags: len(c.Tags) > MaxTags,
	}
	if !src.Context.NoUsers {
		t.user = r.Text(d.UserID, MaxTag, false)
	}
	w.tags = r.tags(w.tags[:0], c.Tags[:min(len(c.Tags), MaxTags)], src.Context.NoUsers)
	t.tags = w.tagLists.Copy(w.tags)
	return t
}

// tags appends the sender's tags, each key once. A key may name a secret or be one.
func (r *Rules) tags(kept []errata.Tag, sent []Pair, noUsers bool) []errata.Tag {
	for i, tag := range sent {
		if tag.Value == "" || hasKey(sent[:i], tag.Key) || noUsers && isUserKey(tag.Key) {
			continue
		}
		key, value := r.Text(tag.Key, MaxTag, false), scrub.Filtered
		if !r.Scrubber.SecretKey(tag.Key) {
			value = r.Text(tag.Value, MaxTag, false)
		}
		// Keys that were different may be the same now.
		if !slices.ContainsFunc(kept, func(t errata.Tag) bool { return t.Key == key }) {
			kept = append(kept, errata.Tag{Key: key, Value: value})
		}
	}
	return kept
}

// trail is what an occurrence shows of the draft.
func (t *texts) trail(d *Draft, src *Source) errata.Trail {
	id, isUUID := errata.ShortUUID(d.ClientID)
	if !isUUID {
		id = t.clientID
	}
	trail := errata.Trail{
		ClientID: id, Server: t.server, Transaction: t.transaction, TraceID: t.traceID,
		Tags: slices.Clip(t.tags[:min(len(t.tags), errata.MaxTrailTags)]),
	}
	if d.UserID != noUser {
		trail.UserHash, trail.User = UserHash(src.UserKey, src.Project, d.UserID), t.user
	}
	return trail
}

// noUser is what applications send that number their users and know none.
const noUser = "0"

// UserHash is the hash of a user of a project, 0 without a user or a key. It is that of
// the text as it came, so that users whose names are scrubbed count as several.
func UserHash(key []byte, project uint64, user string) uint64 {
	user = strings.TrimSpace(user)
	if user == "" || len(key) != highwayhash.Size {
		return 0
	}
	var buf [128]byte
	said := append(binary.BigEndian.AppendUint64(buf[:0], project), user...)
	return max(1, highwayhash.Sum64(said, key)>>(64-userHashBits))
}

// userHashBits is the length of the hash of a user. It is most of what an occurrence takes
// on the disk beside its ids. Among a million users of a record two have the same hash with a
// chance of 1 in 140,000.
const userHashBits = 56

// isUserKey says whether a name is that of a value about the user: user.id, userName,
// enduser.id.
func isUserKey(key string) bool {
	const user = "user"
	key = strings.TrimPrefix(strings.ToLower(key), "end")
	rest, ok := strings.CutPrefix(key, user)
	if !ok {
		return false
	}
	switch rest {
	case "", "id", "name", "mail", "email", "hash":
		return true
	}
	return strings.IndexByte("._-", rest[0]) >= 0 && !strings.HasPrefix(rest[1:], "agent")
}
