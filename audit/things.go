package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// lists are the settings that are a list of things, each with an id, and what the trail
// calls such a thing. The whole list is one fact; an entry has the thing that changed.
var lists = map[string]string{
	"alerts.rules":    "alerts.rule",
	"alerts.channels": "alerts.channel",
}

// sealedMember has what is kept secret of a thing, encrypted. The bytes change when and
// only when the secrets do.
const sealedMember = "sealed"

// hiddenMembers are those of a thing that no entry shows, because the trail is never cut.
// On the log url and secret are sealed; the trail does not rely on that. What a rule counts
// under is made by the service, and means nothing to people.
var hiddenMembers = []string{sealedMember, "url", "secret", "counting"}

// thing is one of a list.
type thing map[string]json.RawMessage

// shown is the thing without what is hidden, null for none.
func (t thing) shown() json.RawMessage {
	if t == nil {
		return nil
	}
	rest := thing{}
	for name, member := range t {
		if !slices.Contains(hiddenMembers, name) {
			rest[name] = member
		}
	}
	return part(encode(rest))
}

// thingChange fills in a change of a setting that is a list of things. ok is false when it
// is none of one thing, as another build may write it.
func (e *Entry) thingChange(setting string, before, after json.RawMessage) (ok bool) {
	var was, is []thing
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return false
	}
	old, changed := onlyIn(was, is), onlyIn(is, was)
	switch {
	case len(old) == 0 && len(changed) == 1:
		e.Action, e.After = lists[setting]+".create", changed[0].shown()
	case len(old) == 1 && len(changed) == 0:
		e.Action, e.Before = lists[setting]+".delete", old[0].shown()
	case len(old) == 1 && len(changed) == 1 && bytes.Equal(old[0]["id"], changed[0]["id"]):
		e.Action, e.Before = lists[setting]+".update", old[0].shown()
		if !bytes.Equal(old[0][sealedMember], changed[0][sealedMember]) {
			changed[0]["secrets_changed"] = json.RawMessage("true")
		}
		e.After = changed[0].shown()
	default:
		return false
	}
	return true
}

// onlyIn are the things of a list that do not stand, exactly like that, in another one.
func onlyIn(list, other []thing) (only []thing) {
	for _, one := range list {
		if !slices.ContainsFunc(other, func(same thing) bool { return reflect.DeepEqual(one, same) }) {
			only = append(only, one)
		}
	}
	return only
}
