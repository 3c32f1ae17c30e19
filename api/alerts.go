package api

import (
	"context"
	"net/http"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/outbox"
)

// Alerts are the rules and channels of alerts; an alerts/service.Service has them.
type Alerts interface {
	// Known are this node's copies, at most a second old; it never blocks. The channels are
	// as they stand on the log, and must not be answered.
	Known() (alerts.Set, alerts.Channels)
	// The others ask the log. Channels are as they may be answered: without secrets.
	// Errors: not_found, log_unavailable; those that change something also log_full and
	// those of the patches.
	Rules(ctx context.Context) (alerts.Set, error)
	Rule(ctx context.Context, id string) (alerts.Rule, error)
	CreateRule(ctx context.Context, patch alerts.RulePatch) (alerts.Rule, error)
	UpdateRule(ctx context.Context, id string, patch alerts.RulePatch) (alerts.Rule, error)
	DeleteRule(ctx context.Context, id string) error
	Channels(ctx context.Context) ([]alerts.Channel, error)
	// CreateChannel returns the secret that it has made, "" for none.
	CreateChannel(ctx context.Context, patch alerts.ChannelPatch) (c alerts.Channel, secret string, err error)
	UpdateChannel(ctx context.Context, id string, patch alerts.ChannelPatch) (alerts.Channel, error)
	// DeleteChannel refuses a channel that a rule sends to: invalid_alert.
	DeleteChannel(ctx context.Context, id string) error
}

// Deliveries are the messages of alerts on their way; an *[outbox.Outbox] has them.
type Deliveries interface {
	// List has the newest ones, the newest first.
	List() []outbox.Delivery
	// Test sends a message that only says that it is a test, and waits for what comes of
	// it. Errors: not_found, log_unavailable.
	Test(ctx context.Context, channel string) (outbox.Try, error)
}

// channelJSON is a channel in answers. It has no place for what is sealed.
type channelJSON struct {
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	Kind    alerts.ChannelKind `json:"kind"`
	Enabled bool               `json:"enabled"`
	// URL is whole for webhooks alone.
	URL       string   `json:"url,omitempty"`
	Chat      string   `json:"chat,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	// Secret is that of a new webhook whose maker sent none; nothing else ever shows it.
	Secret string `json:"secret,omitempty"`
}

func channelOf(c *alerts.Channel) channelJSON {
	shown := c.Shown()
	return channelJSON{ID: shown.ID, Name: shown.Name, Kind: shown.Kind, Enabled: shown.Enabled, URL: shown.URL, Chat: shown.Chat, Addresses: shown.Addresses}
}

func (s *service) listRules(c *call) (answer, error) {
	all, err := s.Alerts.Rules(c.Request.Context())
	return reply(mapped(all, ruleOf), err)
}

// ruleOf is a rule in answers. One of an older version names no list of records. Counting is
// not shown.
func ruleOf(r *alerts.Rule) alerts.Rule {
	shown := *r
	shown.Counting = ""
	shown.Signatures = orEmpty(shown.Signatures)
	return shown
}

func (s *service) createRule(c *call, body alerts.RulePatch) (answer, error) {
	if err := s.checkRuleProjects(c, body); err != nil {
		return answer{}, err
	}
	rule, err := s.Alerts.CreateRule(c.Request.Context(), body)
	return answer{status: http.StatusCreated, data: ruleOf(&rule)}, err
}

func (s *service) updateRule(c *call, body alerts.RulePatch) (answer, error) {
	if err := s.checkRuleProjects(c, body); err != nil {
		return answer{}, err
	}
	rule, err := s.Alerts.UpdateRule(c.Request.Context(), c.Param("id"), body)
	return reply(ruleOf(&rule), err)
}

// checkRuleProjects refuses projects that do not exist: the rule would never fire. Errors:
// those of checkProjects.
func (s *service) checkRuleProjects(c *call, body alerts.RulePatch) error {
	numbers, _ := body.Projects.Get()
	return s.checkProjects(c, numbers)
}

func (s *service) deleteRule(c *call) (answer, error) {
	id := c.Param("id")
	return reply(deletedAlert(id), s.Alerts.DeleteRule(c.Request.Context(), id))
}

func deletedAlert(id string) any { return map[string]any{"id": id, "deleted": true} }

func (s *service) listChannels(c *call) (answer, error) {
	all, err := s.Alerts.Channels(c.Request.Context())
	return reply(mapped(all, channelOf), err)
}

func (s *service) createChannel(c *call, body alerts.ChannelPatch) (answer, error) {
	channel, secret, err := s.Alerts.CreateChannel(c.Request.Context(), body)
	made := channelOf(&channel)
	made.Secret = secret
	return answer{status: http.StatusCreated, data: made}, err
}

func (s *service) updateChannel(c *call, body alerts.ChannelPatch) (answer, error) {
	channel, err := s.Alerts.UpdateChannel(c.Request.Context(), c.Param("id"), body)
	return reply(channelOf(&channel), err)
}

func (s *service) deleteChannel(c *call) (answer, error) {
	id := c.Param("id")
	return reply(deletedAlert(id), s.Alerts.DeleteChannel(c.Request.Context(), id))
}

// triedJSON is what came of one attempt to send.
type triedJSON struct {
	At errata.Instant `json:"at"`
	OK bool           `json:"ok"`
	// Status is that of HTTP or SMTP, 0 for none.
	Status int    `json:"status"`
	Answer string `json:"answer"`
	Error  string `json:"error"`
}

func triedOf(t *outbox.Try) triedJSON {
	return triedJSON{At: errata.Instant(t.At), OK: t.OK, Status: t.Status, Answer: t.Answer, Error: t.Error}
}

// channelTestJSON is what came of the test of one channel of a rule.
type channelTestJSON struct {
	Channel     string `json:"channel"`
	ChannelName string `json:"channel_name"`
	triedJSON
}

func (s *service) testChannel(c *call) (answer, error) {
	t, err := s.Deliveries.Test(c.Request.Context(), c.Param("id"))
	return reply(triedOf(&t), err)
}

// testRule sends to all channels of the rule at once: each may take its whole time to fail.
func (s *service) testRule(c *call) (answer, error) {
	rule, err := s.Alerts.Rule(c.Request.Context(), c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	all := make([]channelTestJSON, len(rule.To))
	errs := make(chan error, len(rule.To)) // each sends once and must not wait
	_, channels := s.Alerts.Known()
	for i, id := range rule.To {
		go func() {
			t, err := s.Deliveries.Test(c.Request.Context(), id)
			all[i] = channelTestJSON{Channel: id, ChannelName: nameOfChannel(channels, id), triedJSON: triedOf(&t)}
			errs <- err
		}()
	}
	for range rule.To {
		if one := <-errs; one != nil {
			err = one
		}
	}
	return reply(all, err)
}

func nameOfChannel(all alerts.Channels, id string) string {
	c, _ := all.Find(id)
	return c.Name
}
