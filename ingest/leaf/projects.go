package leaf

import (
	"encoding/json"
	"sync"

	"github.com/errata-log/errata/projects"
)

// Projects is what an ingest node knows of projects: what its hub has copied last. It is
// safe for concurrent use.
type Projects struct {
	// settings are the copies; the bytes of a project are others after each change.
	settings func(project uint64) []byte

	mu   sync.RWMutex
	read map[uint64]copied
}

// copied is a copy and what it says.
type copied struct {
	text []byte
	at   projects.AtDoor
}

// NewProjects makes Projects of the copies; those of an *[access.Store] are in its
// Settings.
func NewProjects(settings func(project uint64) []byte) *Projects {
	return &Projects{settings: settings, read: map[uint64]copied{}}
}

// AtDoor is what receivers must know of the project. A copy that cannot be read is as
// none: no event is refused without a reason.
func (p *Projects) AtDoor(number uint64) projects.AtDoor {
	text := p.settings(number)
	if len(text) == 0 {
		return projects.AtDoor{}
	}
	p.mu.RLock()
	known := p.read[number]
	p.mu.RUnlock()
	if len(known.text) == len(text) && &known.text[0] == &text[0] {
		return known.at
	}
	known = copied{text: text}
	if json.Unmarshal(text, &known.at) != nil {
		known.at = projects.AtDoor{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read[number] = known
	return known.at
}
