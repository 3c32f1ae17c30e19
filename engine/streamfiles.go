package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/highwayhash"
)

// Every stream and every consumer of JetStream has a file with its configuration, and
// a file with the checksum of it. Where the two do not agree the server starts
// without the stream, and the log would be made anew with another identity. So this
// package checks them before the server starts. It finds one changed bit by trying
// each: a checksum of 64 bits that fits is proof enough. Else it takes the copy,
// which is made at every start.
const (
	metaFile, sumFile = "meta.inf", "meta.sum"
	// metaCopies is the folder of the copies, beside JetStream's own.
	metaCopies = "meta-copies"
	// damagedMark is put between the name of a damaged file and the time, to name the
	// file that is kept of it.
	damagedMark = ".damaged-"
	// maxMetaFile bounds the search for a bit, in bytes. Such a file has one or two
	// KiB.
	maxMetaFile = 64 << 10
)

// errDamaged says what to do about a file that cannot be mended.
var errDamaged = errors.New("it is damaged, and there is no copy of it: put back this file and " + sumFile + " beside it from a backup of the data folder, with the service stopped")

// mendMetaFiles checks the files of all streams and consumers below the folder and
// mends the damaged ones, which it keeps under another name. mended has a sentence
// for each.
func mendMetaFiles(storeDir string, now time.Time) (mended []string, err error) {
	err = eachMeta(storeDir, func(m metaFiles) error {
		m.now = now
		said, err := m.mend()
		if err == nil && said != "" {
			mended = append(mended, said)
		}
		return err
	})
	return mended, err
}

// KeepStreamFiles copies the configuration files of the embedded server's streams and
// consumers, for mending. Each start copies those that exist by then. A caller that
// has made streams calls it, so that they have copies before the second start.
func (n *NATS) KeepStreamFiles() error {
	if n.cfg.URL != "" {
		return nil
	}
	return keepMetaFiles(n.cfg.StoreDir)
}

// keepMetaFiles copies the files of all streams and consumers that are whole. It
// leaves out a file that the server is just writing.
func keepMetaFiles(storeDir string) error {
	return eachMeta(storeDir, func(m metaFiles) error {
		meta, metaErr := os.ReadFile(filepath.Join(m.dir, metaFile))
		sum, sumErr := os.ReadFile(filepath.Join(m.dir, sumFile))
		if errors.Join(metaErr, sumErr) != nil || !m.fits(meta, sum) {
			return nil //nolint:nilerr // the next start checks it
		}
		return m.keep(meta, sum)
	})
}

// eachMeta calls do for every stream and consumer below the folder.
func eachMeta(storeDir string, do func(metaFiles) error) error {
	root := filepath.Join(storeDir, "jetstream")
	streams, err := filepath.Glob(filepath.Join(root, "*", "streams", "*"))
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if strings.HasPrefix(filepath.Base(stream), ".") {
			continue // half deleted
		}
		name := filepath.Base(stream)
		folders := map[string]string{stream: name}
		consumers, err := filepath.Glob(filepath.Join(stream, "obs", "*"))
		if err != nil {
			return err
		}
		for _, consumer := range consumers {
			folders[consumer] = name + "/" + filepath.Base(consumer)
		}
		for folder, key := range folders {
			inside, err := filepath.Rel(root, folder)
			if err != nil {
				return err
			}
			m := metaFiles{dir: folder, copies: filepath.Join(storeDir, metaCopies, inside), key: key, isStream: folder == stream}
			if err := do(m); err != nil {
				return fmt.Errorf("engine: the file %s, which says what %q is: %w", filepath.Join(folder, metaFile), key, err)
			}
		}
	}
	return nil
}

// metaFiles are the two files of a stream or a consumer.
type metaFiles struct {
	dir, copies string
	key         string // of the checksum
	isStream    bool
	now         time.Time
}

func (m metaFiles) mend() (said string, err error) {
	meta, metaErr := os.ReadFile(filepath.Join(m.dir, metaFile))
	sum, sumErr := os.ReadFile(filepath.Join(m.dir, sumFile))
	for _, err := range []error{metaErr, sumErr} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if m.fits(meta, sum) {
		return "", m.keep(meta, sum)
	}
	if found, ok := m.search(meta, sum); ok {
		return m.replace(found, "by its checksum")
	}
	kept, keptErr := os.ReadFile(filepath.Join(m.copies, metaFile))
	keptSum, keptSumErr := os.ReadFile(filepath.Join(m.copies, sumFile))
	switch {
	case errors.Join(keptErr, keptSumErr) == nil && m.fits(kept, keptSum):
		return m.replace(kept, "from the copy of the last start")
	case !m.holdsAnything():
		return "", nil // a crash in the middle of making it; it is made again
	}
	return "", errDamaged
}

// holdsAnything says whether the folder is that of a stream with messages.
func (m metaFiles) holdsAnything() bool {
	if !m.isStream {
		return false // the user of a consumer makes it again
	}
	blocks, _ := filepath.Glob(filepath.Join(m.dir, "msgs", "*.blk")) // the pattern has no mistake in it
	for _, block := range blocks {
		if info, err := os.Stat(block); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func (m metaFiles) sum(meta []byte) [highwayhash.Size64]byte {
	key := sha256.Sum256([]byte(m.key))
	var sum [highwayhash.Size64]byte
	hash, err := highwayhash.New64(key[:])
	if err != nil {
		return sum // the key has the right size, so this does not happen
	}
	_, _ = hash.Write(meta) // it returns no error
	copy(sum[:], hash.Sum(nil))
	return sum
}

func (m metaFiles) text(meta []byte) string {
	sum := m.sum(meta)
	return hex.EncodeToString(sum[:])
}

func (m metaFiles) fits(meta, sum []byte) bool {
	return len(meta) > 0 && json.Valid(meta) && m.text(meta) == string(sum)
}

// search finds the one bit that has changed in either file.
func (m metaFiles) search(meta, sum []byte) (found []byte, ok bool) {
	if len(meta) == 0 || len(meta) > maxMetaFile || len(sum) != 2*highwayhash.Size64 {
		return nil, false
	}
	if want := m.text(meta); json.Valid(meta) && bitsBetween(want, string(sum)) == 1 {
		return meta, true
	}
	tried := append([]byte(nil), meta...)
	for bit := range 8 * len(tried) {
		tried[bit/8] ^= 1 << (bit % 8)
		if m.fits(tried, sum) {
			return tried, true
		}
		tried[bit/8] ^= 1 << (bit % 8)
	}
	return nil, false
}

// bitsBetween counts the bits in which two texts of one length differ.
func bitsBetween(a, b string) (n int) {
	for i := range len(a) {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// replace keeps the present files under another name and writes the mended ones.
func (m metaFiles) replace(meta []byte, how string) (said string, err error) {
	aside := damagedMark + m.now.UTC().Format("20060102T150405Z")
	for _, name := range []string{metaFile, sumFile} {
		path := filepath.Join(m.dir, name)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path+aside, text, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("put it aside: %w", err)
		}
	}
	if err := writeMeta(m.dir, meta, m.text(meta)); err != nil {
		return "", err
	}
	return fmt.Sprintf("the files %s and %s of %q did not agree and were mended %s; what stood there has %s in its name, in %s",
		metaFile, sumFile, m.key, how, aside, m.dir), nil
}

// keep copies the files unless the copy is the same.
func (m metaFiles) keep(meta, sum []byte) error {
	if kept, err := os.ReadFile(filepath.Join(m.copies, sumFile)); err == nil && string(kept) == string(sum) {
		return nil
	}
	if err := os.MkdirAll(m.copies, 0o700); err != nil {
		return err
	}
	return writeMeta(m.copies, meta, string(sum))
}

func writeMeta(dir string, meta []byte, sum string) error {
	for name, text := range map[string]string{metaFile: string(meta), sumFile: sum} {
		if err := writePrivate(filepath.Join(dir, name), text); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// setCreated gives streams of a stopped server the times at which they were made.
func setCreated(storeDir string, created map[string]time.Time) error {
	return eachMeta(storeDir, func(m metaFiles) error {
		at, there := created[m.key]
		if !m.isStream || !there {
			return nil
		}
		var meta map[string]json.RawMessage
		text, err := os.ReadFile(filepath.Join(m.dir, metaFile))
		if err == nil {
			err = json.Unmarshal(text, &meta)
		}
		if err == nil {
			meta["created"], err = json.Marshal(at)
		}
		if err == nil {
			text, err = json.Marshal(meta)
		}
		if err != nil {
			return err
		}
		return writeMeta(m.dir, text, m.text(text))
	})
}
