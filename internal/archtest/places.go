package archtest

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// registries are the hosts of packages and images. They stand in pieces, so that this
// file does not break the rule. The configuration of each machine names its mirrors.
var registries = [][]string{
	{"registry", "npmjs", "org"},
	{"registry", "npmmirror", "com"},
	{"registry", "yarnpkg", "com"},
	{"proxy", "golang", "org"},
	{"sum", "golang", "org"},
	{"goproxy", "io"},
	{"goproxy", "cn"},
	{"docker", "io"},
	{"ghcr", "io"},
	{"gcr", "io"},
	{"quay", "io"},
	{"files", "pythonhosted", "org"},
}

// Places are the texts that no file of the repository may hold.
type Places struct {
	hosts []string
	paths *regexp.Regexp
}

// NewPlaces knows the registries, the hosts in the given proxy settings
// (lists as in GOPROXY, separated by commas or bars), and the folders of a
// machine: the super-user's home, scratch space, and the folders given, which
// are absolute.
func NewPlaces(proxies []string, folders []string) Places {
	var p Places
	for _, parts := range registries {
		p.hosts = append(p.hosts, strings.Join(parts, "."))
	}
	for _, list := range proxies {
		for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
			if u, err := url.Parse(strings.TrimSpace(item)); err == nil && u.Hostname() != "" {
				p.hosts = append(p.hosts, u.Hostname())
			}
		}
	}
	// A root folder counts only at the beginning of a path, not below another folder
	// such as ${DATA}.
	alternatives := []string{"/" + "root/", "/" + "tmp/[a-z]"}
	for _, folder := range folders {
		// The list above has the scratch folder already.
		if name := strings.Trim(folder, "/"); name != "" && name != "tmp" {
			alternatives = append(alternatives, regexp.QuoteMeta(strings.TrimRight(folder, "/")+"/"))
		}
	}
	p.paths = regexp.MustCompile(`(?:^|[^\w.})-])(` + strings.Join(alternatives, "|") + `)`)
	return p
}

// Find searches all texts of the tree except go.sum, which the go command writes and
// which names modules, not hosts.
func (p Places) Find(t *Tree) []string {
	var found []string
	for _, name := range t.paths() {
		if name == "go.sum" {
			continue
		}
		number := 0
		for line := range strings.Lines(string(t.Texts[name])) {
			number++
			for _, host := range p.hosts {
				if strings.Contains(line, host) {
					found = append(found, fmt.Sprintf("%s:%d: names the registry host %s; it belongs into the machine's configuration", name, number, host))
				}
			}
			if hit := p.paths.FindStringSubmatch(line); hit != nil {
				found = append(found, fmt.Sprintf("%s:%d: names a path of one machine: %s", name, number, hit[1]))
			}
		}
	}
	return found
}
