package query

import "strings"

// likeEscapes makes a text mean itself in LIKE. Greek sigma has two lower-case
// forms, one of them for the end of a word, and which one lower-casing gives
// depends on what follows; any one character stands for them all.
var likeEscapes = strings.NewReplacer(
	`\`, `\\`, `%`, `\%`, `_`, `\_`,
	"Σ", `_`, "σ", `_`, "ς", `_`,
)

// contains is the LIKE pattern of texts that contain the literal text.
func contains(text string) string { return "%" + likeEscapes.Replace(text) + "%" }

// likePattern is the LIKE pattern of texts that contain the pattern, in which *
// stands for anything, and that of its longest literal part. Both are "" if the
// pattern holds nothing but *.
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

// signatureDigits is the number of hex digits of a signature.
const signatureDigits = 32

// signatureRange is the first and the last signature, as hex digits, that begin
// with the text. ok is false if none can.
func signatureRange(text string) (first, last string, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || len(text) > signatureDigits || strings.Trim(text, "0123456789abcdef") != "" {
		return "", "", false
	}
	rest := signatureDigits - len(text)
	return text + strings.Repeat("0", rest), text + strings.Repeat("f", rest), true
}
