package sentry

// contexts reads the few contexts that are kept.
func (p *parser) contexts(key []byte) error {
	switch string(key) {
	case "trace":
		return p.object((*parser).traceField)
	case "runtime":
		return p.named(&p.runtime)
	case "browser":
		return p.named(&p.browser)
	case "os":
		return p.named(&p.os)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) traceField(key []byte) error {
	switch string(key) {
	case "trace_id":
		return p.set(&p.draft.Context.TraceID)
	case "span_id":
		return p.set(&p.draft.Context.SpanID)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) named(to *named) error {
	return p.object(func(p *parser, key []byte) error { return p.namedField(to, key) })
}

func (p *parser) namedField(to *named, key []byte) error {
	switch string(key) {
	case "name":
		return p.bytes(&to.name)
	case "version":
		return p.bytes(&to.version)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) sdkField(key []byte) error {
	if string(key) == "settings" {
		return p.only("infer_ip", func(p *parser) error { return p.bytes(&p.inferIP) })
	}
	return p.namedField(&p.sdk, key)
}
