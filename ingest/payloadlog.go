package ingest

// log writes the member "log": what the application wrote to its log with an exception. It
// is left out where it is the message itself.
func (p *payloadWriter) log(text string) {
	if text == "" {
		return
	}
	kept := p.rules.cutText(text, p.share.text, true)
	if p.repeats(kept.text) {
		return
	}
	if kept.cut {
		p.truncated("log")
	}
	p.name("log")
	p.Str(kept.text)
}
