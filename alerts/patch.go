package alerts

import (
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// RulePatch changes what was sent. Errors are of the kinds invalid_name and invalid_alert;
// they name the field.
type RulePatch struct {
	Name            errata.Optional[string]   `json:"name"`
	Enabled         errata.Optional[bool]     `json:"enabled"`
	Projects        errata.Optional[[]uint64] `json:"projects"`
	Environments    errata.Optional[[]string] `json:"environments"`
	Levels          errata.Optional[[]string] `json:"levels"`
	Books           errata.Optional[[]string] `json:"books"`
	Signatures      errata.Optional[[]string] `json:"signatures"`
	Search          errata.Optional[string]   `json:"search"`
	When            errata.Optional[When]     `json:"when"`
	ThrottleMinutes errata.Optional[int]      `json:"throttle_minutes"`
	To              errata.Optional[[]string] `json:"to"`
}

// Apply is the rule after the patch, checked against the channels that there are.
func (p RulePatch) Apply(to Rule, channels Channels) (Rule, error) {
	to = p.applied(to)
	return to, to.check(channels)
}

// Draft is a rule that only decides: it needs no name, and no channel to send to.
func (p RulePatch) Draft() (Rule, error) {
	to := p.applied(NewRule("draft"))
	return to, to.checkCondition()
}

func (p RulePatch) applied(to Rule) Rule {
	to.Name = strings.TrimSpace(p.Name.Or(to.Name))
	to.Enabled = p.Enabled.Or(to.Enabled)
	to.Projects, to.Environments = p.Projects.Or(to.Projects), p.Environments.Or(to.Environments)
	to.Levels, to.Books = p.Levels.Or(to.Levels), p.Books.Or(to.Books)
	to.Signatures = slices.Clone(p.Signatures.Or(to.Signatures))
	for i, text := range to.Signatures {
		to.Signatures[i] = strings.ToLower(text)
	}
	to.Search = strings.TrimSpace(p.Search.Or(to.Search))
	to.When, to.To = p.When.Or(to.When), p.To.Or(to.To)
	to.ThrottleMinutes = p.ThrottleMinutes.Or(to.ThrottleMinutes)
	return to
}

// NewRule is what a patch of a new rule changes.
func NewRule(id string) Rule {
	return Rule{ID: id, Enabled: true, Projects: []uint64{}, Environments: []string{}, Levels: []string{}, Books: []string{}, Signatures: []string{}, To: []string{}}
}

// ChannelPatch changes what was sent. Errors are those of [RulePatch].
type ChannelPatch struct {
	Name      errata.Optional[string]      `json:"name"`
	Kind      errata.Optional[ChannelKind] `json:"kind"`
	Enabled   errata.Optional[bool]        `json:"enabled"`
	URL       errata.Optional[string]      `json:"url"`
	Secret    errata.Optional[string]      `json:"secret"`
	Chat      errata.Optional[string]      `json:"chat"`
	Addresses errata.Optional[[]string]    `json:"addresses"`
}

// Apply is the channel after the patch, checked. A channel keeps its kind, and its URL when
// that is sent back as it was shown.
func (p ChannelPatch) Apply(to Channel) (Channel, error) {
	if kind, sent := p.Kind.Get(); sent && to.Kind != "" && kind != to.Kind {
		return to, invalid("kind", "A channel keeps its kind; make another one.")
	}
	to.Name, to.Kind = strings.TrimSpace(p.Name.Or(to.Name)), p.Kind.Or(to.Kind)
	to.Enabled = p.Enabled.Or(to.Enabled)
	if url, sent := p.URL.Get(); sent && url != to.Shown().URL {
		to.URL = url
	}
	to.Secret, to.Chat = p.Secret.Or(to.Secret), p.Chat.Or(to.Chat)
	to.Addresses = p.Addresses.Or(to.Addresses)
	return to, to.check()
}

// NewChannel is what a patch of a new channel changes.
func NewChannel(id string) Channel { return Channel{ID: id, Enabled: true, Addresses: []string{}} }

// TooMany says that there is no room for another rule or channel; nil when there is.
func TooMany(rules, channels int) error {
	if rules <= maxRules && channels <= maxChannels {
		return nil
	}
	return errata.Errorf(errata.KindTooManyAlerts, "There are at most %d rules and %d channels; remove one that nobody needs.", maxRules, maxChannels)
}
