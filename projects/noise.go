package projects

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// Rule is a noise rule: what it does to events whose field matches, or to those that a
// ready set of rules matches.
type Rule struct {
	Field string `json:"field,omitempty"`
	// Match is a text that the field contains, in either case; an asterisk stands for
	// any characters. For the field ip it is a whole address or a prefix.
	Match string `json:"match,omitempty"`
	// Set is the key of a [NoiseSet], in the place of Field and Match.
	Set    string `json:"set,omitempty"`
	Action string `json:"action" required:"drop, mute or noise"`
}

// Fields and Actions are what a [Rule] takes.
var (
	Fields  = []string{"class", "message", "file", "release", "user_agent", "ip", "logger"}
	Actions = []string{"drop", "mute", "noise"}
)

const (
	// maxRules and maxMatch bound the work for each event: it is compared with each
	// rule of its project. They also keep a fact far below the largest message.
	maxRules = 100
	maxMatch = 200
)

// Expand are the rules with those of the sets that they name. A set that this version
// does not know has none.
func Expand(rules []Rule) (all []Rule) {
	for _, rule := range rules {
		if rule.Set == "" {
			all = append(all, rule)
			continue
		}
		for _, set := range noiseSets {
			if set.Key != rule.Set {
				continue
			}
			for _, look := range set.Rules {
				all = append(all, Rule{Field: look.Field, Match: look.Match, Action: rule.Action})
			}
		}
	}
	return all
}

// AddressRule reads the match of a rule for the field ip that has no asterisk: an
// address or a prefix, as the list takes it.
func AddressRule(match string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(match); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(match)
	return prefix.Masked(), err
}

func checkRules(rules []Rule) error {
	if len(rules) > maxRules {
		return invalid(errata.KindInvalidNoiseRule, "noise", "A project has at most %d noise rules, these are %d.", maxRules, len(rules))
	}
	for i, rule := range rules {
		if err := rule.check("noise[" + strconv.Itoa(i) + "]."); err != nil {
			return err
		}
	}
	return nil
}

// check names the field that is wrong behind at.
func (r Rule) check(at string) error {
	wrong := func(field, format string, args ...any) error {
		return invalid(errata.KindInvalidNoiseRule, at+field, format, args...)
	}
	if !slices.Contains(Actions, r.Action) {
		return wrong("action", "A noise rule does one of: %s.", strings.Join(Actions, ", "))
	}
	if r.Set != "" {
		known := slices.ContainsFunc(noiseSets, func(set NoiseSet) bool { return set.Key == r.Set })
		switch {
		case !known:
			return wrong("set", "A ready set of noise rules is one of: %s.", strings.Join(setKeys(), ", "))
		case r.Field != "" || r.Match != "":
			return wrong("set", "A noise rule has either a set, or a field and a match.")
		}
		return nil
	}
	_, notAddress := AddressRule(r.Match)
	switch length := utf8.RuneCountInString(r.Match); {
	case !slices.Contains(Fields, r.Field):
		return wrong("field", "A noise rule looks at one of: %s; or it names a set.", strings.Join(Fields, ", "))
	case strings.Trim(r.Match, "* ") == "":
		return wrong("match", "A noise rule needs a text to match; an asterisk alone would match every event.")
	case length > maxMatch || !utf8.ValidString(r.Match):
		return wrong("match", "The text of a noise rule has at most %d characters.", maxMatch)
	case r.Field == "ip" && notAddress != nil && (!strings.Contains(r.Match, "*") || strings.Trim(strings.ToLower(r.Match), "0123456789abcdef.:*") != ""):
		return wrong("match", "A rule for the field ip is an address, such as 203.0.113.9, a prefix, such as 10.0.0.0/8, or an address with asterisks, such as 10.0.*.")
	}
	return nil
}
