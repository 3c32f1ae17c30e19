package api

import (
	"context"
	"net/netip"
	"strconv"

	errata "github.com/errata-log/errata"
)

// Eraser removes persons from the records, and from what is stored beside them.
type Eraser interface {
	// Erase returns when no answer shows the persons any more, with the number of
	// records that it met. With cut, it also purges the facts before it from the
	// log. Errors: log_full, log_unavailable, store_unavailable, already_running.
	Erase(ctx context.Context, users, addresses []string, cut bool) (errata.Changed, error)
}

const (
	// maxErased bounds one request: each name is looked for in every context.
	maxErased = 100
	// maxUser is the longest name of a user that events keep, in bytes.
	maxUser = 256
)

type eraseBody struct {
	Users     []string `json:"users" null:"absent"`
	Addresses []string `json:"addresses" null:"absent"`
	CutLog    bool     `json:"cut_log"`
}

// erase removes persons, however long that takes.
func (s *service) erase(c *call, body eraseBody) (answer, error) {
	if n := len(body.Users) + len(body.Addresses); n == 0 || n > maxErased {
		return answer{}, errata.Errorf(errata.KindInvalidEntry, "Name 1 to %d users and addresses; these are %d.", maxErased, n)
	}
	for _, user := range body.Users {
		if id, err := strconv.ParseInt(user, 10, 64); user == "" || len(user) > maxUser || err == nil && id == 0 {
			return answer{}, errata.Errorf(errata.KindInvalidEntry, "A user is named as applications name it, in 1 to %d bytes; 0 stands for nobody.", maxUser)
		}
	}
	for _, text := range body.Addresses {
		if addr, err := netip.ParseAddr(text); err != nil || addr.Unmap().IsUnspecified() {
			return answer{}, errata.Errorf(errata.KindInvalidIP, "%q is no IP address of anybody.", cut(text))
		}
	}
	defer c.withoutDeadline()()
	changed, err := s.Eraser.Erase(context.WithoutCancel(c.Request.Context()), body.Users, body.Addresses, body.CutLog)
	return reply(map[string]any{"erased": true, "count": changed.Total(), "log_cut": body.CutLog}, err)
}
