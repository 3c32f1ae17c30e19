package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// The tools beside this file build the page into dist. "all:" also embeds files
// whose names begin with a dot or an underscore, which bundlers make.
//
//go:embed all:dist
var dist embed.FS

// ReportPath is where browsers report violations of the page's policy. It is
// relative to the page, so that a proxy may put the page below a path.
const ReportPath = "api/v1/csp-reports"

// Policy is the Content-Security-Policy of the page: its own scripts, styles,
// icon and service, and nothing else. Texts of records never become markup: that
// needs a trusted type, and no trusted-types policy is allowed. It has report-uri
// alone, because browsers that know report-to would report over TLS only.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'; report-uri " + ReportPath

const (
	// keepForGood is for files whose names change with their content.
	keepForGood = "public, max-age=31536000, immutable"
	// askAnew is for the page, whose name never changes.
	askAnew = "no-cache"
	// minGzip is the size from which compressing pays: below it, the answer is
	// one packet anyway.
	minGzip = 1 << 10
)

// contentTypes are the types of the built files. The system's own table is not
// used, because it differs between machines.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".txt": "text/plain; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".webp": "image/webp",
	".woff2": "font/woff2", ".wasm": "application/wasm",
}

// Site is the page and what it loads. It is safe for concurrent use.
type Site struct {
	page   *file
	assets map[string]*file
}

// file is a file in the forms in which it is sent.
type file struct {
	contentType, cache, policy string
	plain, zipped              form // zipped has no content when it would be no smaller
}

type form struct {
	content []byte
	etag    string
}

// New reads and compresses the files, once for all services of a process. The error
// names the file that is wrong.
var New = sync.OnceValues(func() (*Site, error) { return newSite(dist) })

func newSite(files fs.FS) (*Site, error) {
	s := &Site{assets: map[string]*file{}}
	page, err := readFile(files, "dist/index.html")
	if err != nil {
		return nil, err
	}
	page.cache, page.policy = askAnew, Policy
	s.page = page
	const folder = "dist/assets"
	if _, err := fs.Stat(files, folder); errors.Is(err, fs.ErrNotExist) {
		return s, nil // a build without the page
	}
	err = fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := readFile(files, name)
		if err != nil {
			return err
		}
		f.cache = keepForGood
		s.assets[strings.TrimPrefix(name, folder+"/")] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	return s, nil
}

func readFile(files fs.FS, name string) (*file, error) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	f := &file{contentType: contentTypes[path.Ext(name)]}
	if f.contentType == "" {
		f.contentType = "application/octet-stream"
	}
	sum := sha256.Sum256(content)
	tag := hex.EncodeToString(sum[:16])
	f.plain = form{content, `"` + tag + `"`}
	if len(content) < minGzip {
		return f, nil
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress %s: %w", name, err)
	}
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress %s: %w", name, err)
	}
	if zipped.Len() < len(content) {
		f.zipped = form{zipped.Bytes(), `"` + tag + `-gzip"`}
	}
	return f, nil
}

// Index answers with the page.
func (s *Site) Index() http.Handler { return s.page }

// Asset answers with a file below assets, nil when there is none of that name.
func (s *Site) Asset(name string) http.Handler {
	f, there := s.assets[strings.TrimPrefix(name, "/")]
	if !there {
		return nil
	}
	return f
}

// ServeHTTP answers with the file, or with 304 when the caller has it.
func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", f.cache)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if f.policy != "" {
		h.Set("Content-Security-Policy", f.policy)
	}
	sent := f.plain
	if f.zipped.content != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			sent = f.zipped
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", sent.etag)
	if strings.Contains(r.Header.Get("If-None-Match"), sent.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(sent.content)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(sent.content) // the caller is gone when this fails
	}
}

// takesGzip says whether an Accept-Encoding names gzip, with a weight above zero.
func takesGzip(accepted string) bool {
	for item := range strings.SplitSeq(accepted, ",") {
		coding, weight, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		_, value, weighed := strings.Cut(weight, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return !weighed || err == nil && q > 0
	}
	return false
}
