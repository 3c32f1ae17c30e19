package geo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// source is a database that npm can bring. Its hash is checked before anything
// is unpacked, so it cannot change under us.
type source struct {
	// pack is the package with its exact version.
	pack string
	// sha256 of the archive, in hex.
	sha256 string
	// database is the file in the archive; papers are the texts that must stay
	// with it for its licence, by the name they get.
	database string
	papers   map[string]string
	// licence is shown to the operator.
	licence string
}

// free covers every address in use, and names the same country as GeoLite2 for
// 97.5 % of them. The public-domain alternative, iptoasn-country, lacks 15.6 %
// of the addresses. Its package.json says CC0-1.0 and its README CC BY 4.0 with
// attribution; we follow the stricter one.
var free = source{
	pack:     "@ip-location-db/geo-whois-asn-country-mmdb@2.3.2026061719",
	sha256:   "91757a1b06cdcd1955f292e4c4cfc54e091204f998e159a3187f7a2ef3724be0",
	database: "package/geo-whois-asn-country.mmdb",
	papers:   map[string]string{"package/README.md": "country.README.md", "package/NRO_LICENSE": "country.LICENSE.txt"},
	licence:  "CC BY 4.0; country data by the NRO (nro.net), merged by ip-location-db",
}

const (
	// installedName is the file that Install makes.
	installedName = "country.mmdb"
	// extension ends the file names of all databases.
	extension = ".mmdb"
	// npmStops is how long npm has to end after it was told to.
	npmStops = 5 * time.Second
	// maxComplaint bounds npm's output in an error, in bytes.
	maxComplaint = 500
)

// instead ends each error of a failed installation.
const instead = "or put any " + extension + " file that tells countries into the folder by hand"

// Installed says what [Install] has installed.
type Installed struct {
	Info
	// Package is where it came from, Licence the terms it may be used under.
	Package, Licence string
}

// Install installs the free country database in dir, with the texts that its
// licence requires beside it, and replaces an older one at once. It needs npm,
// which downloads the one archive and never runs its scripts. Errors say what
// to do; dir is then as it was.
func Install(ctx context.Context, dir string) (Installed, error) { return install(ctx, dir, free) }

func install(ctx context.Context, dir string, from source) (Installed, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return Installed{}, fmt.Errorf("make the folder for the location database: %w", err)
	}
	work, err := os.MkdirTemp(dir, ".install-")
	if err != nil {
		return Installed{}, fmt.Errorf("make a folder to unpack in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // what is left of it is hidden and harmless
	archive, err := download(ctx, work, from)
	if err != nil {
		return Installed{}, err
	}
	wanted := map[string]string{from.database: installedName}
	maps.Copy(wanted, from.papers)
	if err := unpack(archive, work, wanted); err != nil {
		return Installed{}, fmt.Errorf("unpack %s: %w", from.pack, err)
	}
	db, err := open(filepath.Join(work, installedName))
	if err != nil {
		return Installed{}, fmt.Errorf("%s: %w", from.pack, err)
	}
	db.Close()
	// The database comes last, so that its licence is always beside it.
	names := make([]string, 0, len(wanted))
	for _, as := range from.papers {
		names = append(names, as)
	}
	for _, name := range append(names, installedName) {
		if err := os.Rename(filepath.Join(work, name), filepath.Join(dir, name)); err != nil {
			return Installed{}, fmt.Errorf("put the location database in its place: %w", err)
		}
	}
	info := db.Info()
	info.Path = filepath.Join(dir, installedName)
	return Installed{Info: info, Package: from.pack, Licence: from.licence}, nil
}

// download lets npm download the archive into work, and checks it.
func download(ctx context.Context, work string, from source) (path string, err error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm is needed to download the location database and was not found: install it, %s", instead)
	}
	// The working folder is empty, so that no project's settings apply; the
	// user's do, which name the registry.
	command := exec.CommandContext(ctx, npm, "pack", "--ignore-scripts", "--silent", from.pack)
	command.Dir, command.WaitDelay = work, npmStops
	said, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("download %s: %w", from.pack, ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("npm could not download %s (%w: %s): look at npm's settings and the network, %s", from.pack, err, shorten(said), instead)
	}
	archives, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm left %d archives of %s and should have left one: try again, %s", len(archives), from.pack, instead)
	}
	sum, err := hashOf(archives[0])
	if err != nil {
		return "", fmt.Errorf("read the archive of %s: %w", from.pack, err)
	}
	if sum != from.sha256 {
		return "", fmt.Errorf("the archive of %s has SHA-256 %s and must have %s: the registry serves something else; nothing was installed", from.pack, sum, from.sha256)
	}
	return archives[0], nil
}

func shorten(said []byte) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "")), " ")
	if len(text) > maxComplaint {
		text = strings.ToValidUTF8(text[:maxComplaint], "") + "…"
	}
	return text
}

func hashOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// errNotInstalled says that a folder has no location database.
var errNotInstalled = errors.New("no location database is installed")

// find is the database of a folder: the one that was put there by hand, else
// the one of [Install]. Several by hand are an error, because it is not clear
// which is meant.
func find(dir string) (path string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for the location database: %w", err)
	}
	var own []string
	installed := false
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case entry.IsDir() || strings.HasPrefix(name, ".") || filepath.Ext(name) != extension:
		case name == installedName:
			installed = true
		default:
			own = append(own, name)
		}
	}
	switch {
	case len(own) > 1:
		return "", fmt.Errorf("%s holds several location databases (%s): leave one", dir, strings.Join(own, ", "))
	case len(own) == 1:
		return filepath.Join(dir, own[0]), nil
	case installed:
		return filepath.Join(dir, installedName), nil
	default:
		return "", fmt.Errorf("%w in %s: run errata geo install, %s", errNotInstalled, dir, instead)
	}
}
