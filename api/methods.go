package api

import (
	"net/http"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// methodsOf are the methods of each path, sorted, as Allow names them. A path that
// has GET has HEAD too.
func methodsOf(routes []route) map[string][]string {
	methods := map[string][]string{}
	for _, r := range routes {
		methods[r.Path] = append(methods[r.Path], r.Method)
		if r.Method == http.MethodGet {
			methods[r.Path] = append(methods[r.Path], http.MethodHead)
		}
	}
	for _, list := range methods {
		slices.Sort(list)
	}
	return methods
}

// overshadowed are methods of paths that Gin would give to a path with a parameter
// that fits too: GET errors/cleanup, which takes only POST, would be
// errors/:signature. They have to be refused.
func overshadowed(methods map[string][]string) map[string][]string {
	refused := map[string][]string{}
	for path, own := range methods {
		for pattern, theirs := range methods {
			if pattern == path || !fits(pattern, path) {
				continue
			}
			for _, method := range theirs {
				if !slices.Contains(own, method) && !slices.Contains(refused[path], method) {
					refused[path] = append(refused[path], method)
				}
			}
		}
	}
	return refused
}

// fits says whether Gin takes path for a value of pattern.
func fits(pattern, path string) bool {
	patterns, parts := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(patterns) != len(parts) {
		return false
	}
	for i, want := range patterns {
		if want != parts[i] && !strings.HasPrefix(want, ":") {
			return false
		}
	}
	return true
}

// refuseMethod answers a method that the path does not take.
func (s *service) refuseMethod(c *call) (answer, error) {
	h := c.Writer.Header()
	// Gin has set Allow for paths with a parameter and those of receivers.
	if own := s.methods[c.Request.URL.Path]; own != nil {
		h.Set("Allow", strings.Join(own, ", "))
	}
	return answer{}, errata.Errorf(errata.KindMethodNotAllowed, "This path does not take this method; it takes %s.", h.Get("Allow"))
}
