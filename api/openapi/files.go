package openapi

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
)

//go:embed explorer
var explorer embed.FS

// pagePolicy lets the explorer load its own script and style and call its own
// service, and nothing else: a record that it shows can neither run code nor
// send data elsewhere.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// File is a file that is served as it is.
type File struct {
	contentType string
	policy      string
	content     []byte
	etag        string
}

// Files are what the package serves.
type Files struct {
	Document, Page, Script, Style *File
}

// New makes the files. The error names the file that is wrong.
func New() (Files, error) {
	document, err := Document()
	if err != nil {
		return Files{}, err
	}
	files := Files{Document: newFile("application/json", "", document)}
	for name, f := range map[string]struct {
		to          **File
		contentType string
	}{
		"index.html":   {&files.Page, "text/html; charset=utf-8"},
		"explorer.js":  {&files.Script, "text/javascript; charset=utf-8"},
		"explorer.css": {&files.Style, "text/css; charset=utf-8"},
	} {
		content, err := explorer.ReadFile(path.Join("explorer", name))
		if err != nil {
			return Files{}, fmt.Errorf("read %s of the explorer: %w", name, err)
		}
		*f.to = newFile(f.contentType, pagePolicy, content)
	}
	return files, nil
}

func newFile(contentType, policy string, content []byte) *File {
	sum := sha256.Sum256(content)
	return &File{contentType: contentType, policy: policy, content: content, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// ServeHTTP answers with the file, or with 304 when the caller has it. Callers
// may cache it and must ask each time whether it changed.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	if f.policy != "" {
		h.Set("Content-Security-Policy", f.policy)
	}
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(f.content)
}
