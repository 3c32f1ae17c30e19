package api

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	errata "github.com/errata-log/errata"
)

// noMethod answers a request whose path takes other methods, which Allow lists.
// Gin's own list is not used: for errors/stream it names DELETE too, because its
// search for one method goes on where that for another one stopped.
func noMethod(routes gin.RoutesInfo) route {
	return route{
		Route: Route{Path: "(none)", Admission: AdmitAll},
		handle: func(c *call) (answer, error) {
			allow := strings.Join(methodsOf(routes, c.Request.URL.Path), ", ")
			c.Writer.Header().Set("Allow", allow)
			return answer{}, errata.Errorf(errata.KindMethodNotAllowed, "This path does not take this method; it takes %s.", allow)
		},
	}
}

// methodsOf are the methods that a path takes.
func methodsOf(routes gin.RoutesInfo, path string) []string {
	var methods []string
	for _, r := range routes {
		if !slices.Contains(methods, r.Method) && leadsTo(strings.Split(r.Path, "/"), strings.Split(path, "/")) {
			methods = append(methods, r.Method)
		}
	}
	return methods
}

// leadsTo tells whether a route takes a path, both in segments: :name stands for
// any segment, and *name for the rest.
func leadsTo(route, path []string) bool {
	for i, want := range route {
		switch {
		case strings.HasPrefix(want, "*"):
			return true
		case i >= len(path), want != path[i] && (!strings.HasPrefix(want, ":") || path[i] == ""):
			return false
		}
	}
	return len(route) == len(path)
}
