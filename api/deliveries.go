package api

import (
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts/outbox"
)

const (
	// defaultDeliveries and maxDeliveries bound the list; a node knows no more.
	defaultDeliveries = 100
	maxDeliveries     = 1000
)

// deliveryJSON is a delivery in answers, without its message.
type deliveryJSON struct {
	ID   string `json:"id"`
	Rule string `json:"rule"`
	// RuleName and ChannelName are "" when there is no such rule or channel any more.
	RuleName    string         `json:"rule_name"`
	Channel     string         `json:"channel"`
	ChannelName string         `json:"channel_name"`
	Made        errata.Instant `json:"made"`
	Fired       uint64         `json:"fired"`
	Subject     string         `json:"subject"`
	State       outbox.State   `json:"state"`
	Tries       int            `json:"tries"`
	// Next is null for a delivery that has ended.
	Next errata.Instant `json:"next"`
	Last []triedJSON    `json:"last"`
}

// deliveryFilter says which deliveries are listed; "" is any.
type deliveryFilter struct {
	rule, channel string
	state         outbox.State
	limit         int
}

// deliveryFilter reads the parameters. Errors: invalid_limit, invalid_status.
func (c *call) deliveryFilter() (f deliveryFilter, err error) {
	f = deliveryFilter{rule: c.Query("rule"), channel: c.Query("channel"), state: outbox.State(strings.ToLower(c.Query("state"))), limit: defaultDeliveries}
	if f.state != "" && !slices.Contains(outbox.States, f.state) {
		return f, refuse(errata.KindInvalidStatus, "state", "state is one of waiting, sent and failed.")
	}
	if text := c.Query("limit"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if f.limit = int(n); err != nil || f.limit < 1 || f.limit > maxDeliveries {
			return f, errata.Errorf(errata.KindInvalidLimit, "limit is a number from 1 to %d.", maxDeliveries)
		}
	}
	return f, nil
}

func (f *deliveryFilter) matches(d *outbox.Delivery) bool {
	return (f.rule == "" || f.rule == d.Rule) && (f.channel == "" || f.channel == d.Channel) && (f.state == "" || f.state == d.State)
}

// listDeliveries answers the newest deliveries, the newest first.
func (s *service) listDeliveries(c *call) (answer, error) {
	f, err := c.deliveryFilter()
	if err != nil {
		return answer{}, err
	}
	rules, channels := s.Alerts.Known()
	list := []deliveryJSON{}
	for _, d := range s.Deliveries.List() {
		if !f.matches(&d) {
			continue
		}
		if len(list) == f.limit {
			break
		}
		rule, _ := rules.Find(d.Rule)
		list = append(list, deliveryJSON{
			ID: d.ID, Rule: d.Rule, RuleName: rule.Name, Channel: d.Channel, ChannelName: nameOfChannel(channels, d.Channel),
			Made: errata.Instant(d.Made), Fired: d.Fired, Subject: d.Subject, State: d.State, Tries: d.Tries,
			Next: errata.Instant(d.Next), Last: mapped(d.Last, triedOf),
		})
	}
	return answer{data: list}, nil
}
