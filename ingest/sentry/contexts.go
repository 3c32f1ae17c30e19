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
	return p.object(func(p *parser, key []byte) error {
		switch string(key) {
		case "name":
			return p.bytes(&to.name)
		case "version":
			return p.bytes(&to.version)
		default:
			return p.dec.Skip()
		}
	})
}

func (p *parser) sdkField(key []byte) error {
	switch string(key) {
	case "name":
		return p.bytes(&p.sdk.name)
	case "version":
		return p.bytes(&p.sdk.version)
	case "settings":
		return p.object(func(p *parser, key []byte) error {
			if string(key) != "infer_ip" {
				return p.dec.Skip()
			}
			return p.bytes(&p.inferIP)
		})
	default:
		return p.dec.Skip()
	}
}
