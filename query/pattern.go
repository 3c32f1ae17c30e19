package query

import "strings"

// likeEscapes escapes a text so that LIKE finds the text itself. Greek sigma has
// two lower-case forms, and the next letter decides which one lowerUTF8 gives, so
// _, which matches any one character, replaces every sigma.
var likeEscapes = strings.NewReplacer(
	`\`, `\\`, `%`, `\%`, `_`, `\_`,
	"Σ", `_`, "σ", `_`, "ς", `_`,
)

// contains is the LIKE pattern for texts that contain the literal text.
func contains(text string) string { return "%" + likeEscapes.Replace(text) + "%" }

// likePattern makes two LIKE patterns from a pattern in which * matches any text:
// whole finds texts that contain the pattern, part those that contain its longest
// literal part. Both are "" if the pattern has no character but *.
func likePattern(pattern string) (whole, part string) {
	var parts []string
	longest := ""
	for literal := range strings.SplitSeq(pattern, "*") {
		if literal == "" {
			continue
		}
		parts = append(parts, likeEscapes.Replace(literal))
		if len(literal) > len(longest) {
			longest = literal
		}
	}
	if len(parts) == 0 {
		return "", ""
	}
	return "%" + strings.Join(parts, "%") + "%", contains(longest)
}

const (
	// signatureDigits is the number of hex digits of a signature.
	signatureDigits = 32
	hexDigits       = "0123456789abcdef"
)

// signatureRange is the first and the last signature, as hex digits, that begin
// with the text. ok is false if no signature can.
func signatureRange(text string) (first, last string, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || len(text) > signatureDigits || strings.Trim(text, hexDigits) != "" {
		return "", "", false
	}
	rest := signatureDigits - len(text)
	return text + strings.Repeat("0", rest), text + strings.Repeat("f", rest), true
}
