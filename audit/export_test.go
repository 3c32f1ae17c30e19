package audit

// NewTrail reads the trail that an auditor of this Config writes on another node.
// Only Log and Stream are needed.
func NewTrail(cfg Config) *Trail { return &Trail{stream: cfg.trail()} }
