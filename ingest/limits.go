package ingest

// Limits that all receivers share. A text over its limit is cut and marked. A body
// over a size limit is refused.
const (
	// MaxWireBody bounds a request as sent; Sentry's own limit is 20 MB.
	MaxWireBody = 20 << 20
	// MaxOpenBody bounds a request after decompression. The receivers stream,
	// so this bounds work, not memory.
	MaxOpenBody = 100 << 20
	// MaxRatio bounds the ratio of decompressed to compressed size, after the first
	// RatioGrace bytes. Ordinary JSON stays below 30:1, bombs reach 664,033:1.
	MaxRatio   = 100
	RatioGrace = 64 << 10
	// MaxEvent bounds one event's JSON.
	MaxEvent = 1 << 20
	// MaxLogItem bounds one Sentry log item container.
	MaxLogItem = 2 << 20
	// MaxClientReport bounds one Sentry client report.
	MaxClientReport = 100 << 10
	// MaxEnvelopeHeader bounds an envelope's and an item's header line.
	MaxEnvelopeHeader = 8 << 10
	// MaxEnvelopeItems bounds the items of one envelope.
	MaxEnvelopeItems = 100
	// MaxBatch bounds the events of one native request.
	MaxBatch = 1000
	// MaxDepth bounds JSON nesting, MaxValues the values of one event.
	MaxDepth  = 64
	MaxValues = 20000

	// MaxMessage bounds the message of an event in bytes. It is longer than any that a
	// person reads, and shorter than the dumps that some applications put into one.
	MaxMessage = 64 << 10
	// MaxSigned bounds the part of a message that the signature is made of. It is part
	// of recipe v1 and never changes.
	MaxSigned = 8192

	// Other text limits in bytes, cut at a rune.
	MaxCause       = 8192 // the message of one exception of the chain
	MaxClass       = 128
	MaxFile        = 512
	MaxURI         = 2048
	MaxMethod      = 16
	MaxTag         = 200
	MaxTags        = 100
	MaxName        = 256 // release, server name, transaction, logger
	MaxFrames      = 50  // 25 first and 25 last
	MaxExceptions  = 10
	MaxFrameArgs   = 16
	MaxFingerprint = 16
	MaxSourceLine  = 200 // a line of source
	MaxSourceLines = 5   // before and after the line of a call, each
	MaxVars        = 40  // local variables of a frame
	MaxVar         = 256 // the value of one
	MaxCrumbs      = 30  // breadcrumbs, the last ones
	MaxCrumb       = 1024
	MaxCrumbData   = 4 << 10
	// MaxExtra bounds extra and contexts together, once scrubbed.
	MaxExtra = 16 << 10
	// PreviewRunes is the length of message_preview.
	PreviewRunes = 200
	// MaxVarsRead bounds the local variables of one frame as they are read, in bytes.
	MaxVarsRead = 32 << 10
	// MaxContext bounds the payload of a stored event without its message. A larger one
	// first loses extra and contexts, see payload.go.
	MaxContext = 64 << 10
	// MaxPayload bounds the payload with its message, of which JSON escapes may write
	// each byte as two. With all other fields it fits into eventlog.MaxEventSize.
	MaxPayload = MaxContext + 2*MaxMessage
)
