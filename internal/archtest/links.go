package archtest

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// mdLink matches the target of an inline Markdown link.
var mdLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links finds relative links of Markdown files whose file or heading does not exist. It
// does not follow links to other sites.
func Links(t *Tree) []string {
	folders := map[string]bool{}
	for _, name := range t.paths() {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			folders[dir] = true
			if dir == "." {
				break
			}
		}
	}
	var found []string
	for _, name := range t.paths() {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, hit := range mdLink.FindAllStringSubmatch(string(t.Texts[name]), -1) {
			target, heading, _ := strings.Cut(hit[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			text, exists := t.Texts[file]
			switch {
			case !exists && !t.Others[file] && !folders[file]:
				found = append(found, fmt.Sprintf("%s: the link %s leads nowhere", name, hit[1]))
			case heading != "" && !hasHeading(string(text), heading):
				found = append(found, fmt.Sprintf("%s: the link %s leads to a heading that is not there", name, hit[1]))
			}
		}
	}
	return found
}

// hasHeading says whether a Markdown text has a heading with the anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		title := strings.TrimLeft(line, "#")
		if title != line && anchorOf(title) == anchor {
			return true
		}
	}
	return false
}

// anchorOf is the anchor of a heading on code hosts: lower case, with hyphens for
// spaces, and without all but letters, digits, hyphens and underscores.
func anchorOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			b.WriteRune(r)
		}
	}
	return b.String()
}
