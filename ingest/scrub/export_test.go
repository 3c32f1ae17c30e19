package scrub

// The tests call the default rules by these names.
var (
	Text      = standard.Text
	JSON      = standard.JSON
	URI       = standard.URI
	Header    = standard.Header
	SecretKey = standard.SecretKey
)
