package client

import (
	"context"
	"log/slog"
	"slices"
)

// HandlerOptions say what a Handler sends.
type HandlerOptions struct {
	// Level is the lowest level that is sent; nil means slog.LevelError.
	Level slog.Leveler
	// Next gets every record that it is enabled for, sent or not; nil means
	// that there is no other log.
	Next slog.Handler
}

// Handler is a slog.Handler that sends records. Attributes and groups go into
// Extra. The first attribute that is an error gives class, chain and the end of
// the message; then the record's own message is the template.
type Handler struct {
	client *Client
	level  slog.Leveler
	next   slog.Handler
	steps  []step
}

// step is a call of WithGroup or WithAttrs.
type step struct {
	group string
	attrs []slog.Attr
}

// Handler makes a handler for slog.New.
func (c *Client) Handler(o HandlerOptions) *Handler {
	if o.Level == nil {
		o.Level = slog.LevelError
	}
	return &Handler{client: c, level: o.Level, next: o.Next}
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.sends(level) || h.next != nil && h.next.Enabled(ctx, level)
}

func (h *Handler) sends(level slog.Level) bool {
	return h.client != nil && level >= h.level.Level()
}

// Handle implements slog.Handler. The error is that of Next.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if h.sends(r.Level) {
		h.client.capture(ctx, logged(r.PC), func(e *Event) []uintptr { return h.fill(e, r) }, nil)
	}
	if h.next != nil && h.next.Enabled(ctx, r.Level) {
		return h.next.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	made := h.with(step{attrs: attrs})
	if h.next != nil {
		made.next = h.next.WithAttrs(attrs)
	}
	return made
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	made := h.with(step{group: name})
	if h.next != nil {
		made.next = h.next.WithGroup(name)
	}
	return made
}

func (h *Handler) with(s step) *Handler {
	made := *h
	made.steps = append(slices.Clip(h.steps), s)
	return &made
}

// fill makes an event of a record and returns the stack of its error.
func (h *Handler) fill(e *Event, r slog.Record) (stack []uintptr) {
	var attrs []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	err := errorIn(attrs, maxGroups)
	for _, s := range slices.Backward(h.steps) {
		if s.group != "" {
			attrs = []slog.Attr{{Key: s.group, Value: slog.GroupValue(attrs...)}}
			continue
		}
		attrs = append(slices.Clip(s.attrs), attrs...)
		if err == nil {
			err = errorIn(s.attrs, maxGroups)
		}
	}
	e.Extra = map[string]any{}
	for _, attr := range attrs {
		addAttr(e.Extra, attr, maxGroups)
	}
	if !r.Time.IsZero() {
		e.Time = r.Time.UTC()
	}
	e.Message = r.Message
	if err != nil {
		stack = e.describe(err)
		e.Template = r.Message
		if r.Message != "" {
			e.Message = r.Message + ": " + e.Message
		}
	}
	e.Level = levelOf(r.Level)
	if e.Message == "" {
		e.Message = "(no message)" // the service needs one
	}
	return stack
}

// errorIn is the first attribute that is an error.
func errorIn(attrs []slog.Attr, depth int) error {
	for _, attr := range attrs {
		value := attr.Value.Resolve()
		if value.Kind() == slog.KindGroup && depth > 0 {
			if err := errorIn(value.Group(), depth-1); err != nil {
				return err
			}
		}
		if err, ok := value.Any().(error); ok {
			return err
		}
	}
	return nil
}

// levelOf is the service's level for a level of slog. Applications often use 2 as
// notice, and 12 and 16 as the two levels above error.
func levelOf(level slog.Level) string {
	switch {
	case level < slog.LevelInfo:
		return LevelDebug
	case level < slog.LevelInfo+2:
		return LevelInfo
	case level < slog.LevelWarn:
		return "notice"
	case level < slog.LevelError:
		return LevelWarning
	case level < slog.LevelError+4:
		return LevelError
	case level < slog.LevelError+8:
		return "critical"
	default:
		return LevelFatal
	}
}
