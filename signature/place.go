package signature

import "strings"

// Place is the source file of signature recipe v1: a path relative to the
// install root, with <num> for the parts that every deployment or build names
// anew, so that a problem stays the same in the next release:
//
//	a folder of eight or more digits or hex digits, a UUID,
//	the folder below releases/ or deployments/ if it begins with a digit,
//	the version behind an @ (express@4.18.2),
//	the hash in the name of a built script (main.4f2a9c1b.js, app.3f2a91.js).
//
// Like [Template] it is pure, linear and idempotent and never changes.
func Place(file string) string {
	if !strings.ContainsAny(file, "0123456789") {
		return file
	}
	var out strings.Builder
	out.Grow(len(file) + 8)
	previous := ""
	for {
		segment, rest, more := strings.Cut(file, "/")
		if more {
			writeFolder(&out, segment, previous)
			out.WriteByte('/')
			previous, file = segment, rest
			continue
		}
		writeFile(&out, segment)
		return out.String()
	}
}

func writeFolder(out *strings.Builder, folder, parent string) {
	if folder != "" {
		shape := shapeOf(folder)
		isID := shape.allHex && shape.digits > 0 && len(folder) >= 8 || len(folder) == uuidLen && isUUID(folder)
		release := isDigit(folder[0]) && (parent == "releases" || parent == "deployments")
		if isID || release {
			out.WriteString("<num>")
			return
		}
	}
	if at := strings.LastIndexByte(folder, '@'); at >= 0 {
		version := strings.TrimPrefix(folder[at+1:], "v")
		if version != "" && isDigit(version[0]) {
			out.WriteString(folder[:at+1])
			out.WriteString("<num>")
			return
		}
	}
	out.WriteString(folder)
}

// writeFile writes the last segment. Only the names of built scripts hold hashes;
// the digits of other names, like 2026_01_02_create_users.php, stay.
func writeFile(out *strings.Builder, name string) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || !isScript(name[dot+1:]) {
		out.WriteString(name)
		return
	}
	for rest := name[:dot]; ; {
		sep := strings.IndexAny(rest, ".-")
		piece := rest
		if sep >= 0 {
			piece = rest[:sep]
		}
		if isBuildHash(piece) {
			piece = "<num>"
		}
		out.WriteString(piece)
		if sep < 0 {
			break
		}
		out.WriteByte(rest[sep])
		rest = rest[sep+1:]
	}
	out.WriteString(name[dot:])
}

func isScript(extension string) bool {
	switch extension {
	case "js", "mjs", "cjs", "css", "wasm":
		return true
	}
	return false
}

// isBuildHash says whether a part of a script's name is the hash of a bundler:
// eight or more characters with digits, all hex or in both cases, or six or seven
// with digits and lower-case hex letters.
func isBuildHash(piece string) bool {
	if len(piece) < 6 {
		return false
	}
	digits, hex, upper, lowers := 0, 0, 0, 0
	for i := range len(piece) {
		c := piece[i]
		switch {
		case isDigit(c):
			digits++
		case isUpper(c):
			upper++
		case isLetter(c):
			lowers++
		case c != '_':
			return false
		}
		if isHex(c) {
			hex++
		}
	}
	if len(piece) < 8 {
		return hex == len(piece) && digits > 0 && digits+lowers == len(piece) && lowers > 0
	}
	return digits > 0 && (hex == len(piece) || upper > 0 && lowers > 0 || upper+digits == len(piece))
}
