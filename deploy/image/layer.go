package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"time"

	"github.com/opencontainers/go-digest"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the number of a user that no image has a name for, and of its group.
const user = 65532

// entry is a file or, without content, a folder of an image.
type entry struct {
	name    string
	owner   int
	mode    int64
	content []byte
}

// entries are what is in the image. The program has time zones in itself.
func entries(p program) []entry {
	return []entry{
		{"etc/", 0, 0o755, nil},
		{"etc/ssl/", 0, 0o755, nil},
		{"etc/ssl/certs/", 0, 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0, 0o644, authorities()},
		{"errata", 0, 0o755, p.content},
		// A new volume gets the owner of this folder.
		{"data/", user, 0o755, nil},
	}
}

// authorities are those that Mozilla trusts, in PEM. A file in PEM cannot say that an
// authority is trusted for older certificates only, so these are left out.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return out.Bytes()
}

// pack makes a layer of the entries, and the digest of what is compressed in it.
func pack(list []entry, when time.Time) (layer []byte, unpacked digest.Digest, err error) {
	var plain, packed bytes.Buffer
	tape := tar.NewWriter(&plain)
	for _, e := range list {
		header := &tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner,
			Size: int64(len(e.content)), ModTime: when,
		}
		if e.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := tape.WriteHeader(header); err != nil {
			return nil, "", err
		}
		if _, err := tape.Write(e.content); err != nil {
			return nil, "", err
		}
	}
	if err := tape.Close(); err != nil {
		return nil, "", err
	}
	zip := gzip.NewWriter(&packed)
	_, err = zip.Write(plain.Bytes())
	err = errors.Join(err, zip.Close())
	return packed.Bytes(), digest.FromBytes(plain.Bytes()), err
}
