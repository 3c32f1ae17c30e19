package api

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// leafPaths are the routes of an ingest node.
var leafPaths = []string{"/healthz", "/readyz", "/metrics", admin + "/ping", admin + "/ops/status"}

// served are the routes that this service has.
func (s *service) served() []route {
	all := s.routes()
	if !s.Leaf {
		return all
	}
	return slices.DeleteFunc(all, func(r route) bool { return !slices.Contains(leafPaths, r.Path) })
}

// unknownPath answers unknown paths.
func (s *service) unknownPath() route {
	if !s.Leaf {
		return noRoute
	}
	elsewhere := noRoute
	elsewhere.handle = func(*call) (answer, error) {
		return answer{}, errata.Errorf(errata.KindNotFound, "This is an ingest node: it takes events and sends them to its hub. Records and settings are at the hub.")
	}
	return elsewhere
}
