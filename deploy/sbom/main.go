// Command sbom writes a CycloneDX document of the parts in the built programs, and
// prints a line with the licence of each part. It reads the programs themselves, so
// that it names exactly what was linked.
//
//	go run ./deploy/sbom -o bin/sbom.cdx.json bin/errata bin/errata-engine
//
// An archive of a release (.tar.gz) stands for the programs in it.
//
// It ends with 1 when it does not recognise the licence of a part, or when the licence
// is not in the list of those that fit an Apache-2.0 program. It must not use the
// network: the modules are in Go's module cache once the programs are built.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	out := flag.String("o", "bin/sbom.cdx.json", "the `file` to write")
	root := flag.String("root", ".", "the `folder` of the repository")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *root, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run writes the document and the list. It writes both also when a licence is in doubt,
// so that the list shows which.
func run(ctx context.Context, list io.Writer, root, out string, programs []string) error {
	if len(programs) == 0 {
		return errors.New("name the built programs, such as bin/errata")
	}
	var infos []*buildinfo.BuildInfo
	for _, program := range programs {
		found, err := programsIn(program)
		if err != nil {
			return err
		}
		infos = append(infos, found...)
	}
	version, parts, err := linked(ctx, infos)
	if err != nil {
		return err
	}
	bundled, err := bundledInPage(root)
	if err != nil {
		return err
	}
	parts = append(parts, bundled...)
	fetched := map[string]bool{"": true}
	for _, info := range infos {
		name := libraryOf(info)
		if fetched[name] {
			continue
		}
		fetched[name] = true
		library, err := fetchedLibrary(root, name)
		if err != nil {
			return err
		}
		parts = append(parts, library)
	}
	if err := write(out, version, parts); err != nil {
		return err
	}
	return report(list, parts)
}

// part is one part of what we ship that others have made.
type part struct {
	// Name and Version are those of its ecosystem, URL is its package URL.
	Name, Version, URL string
	// Hash is the SHA-256 of the archive in hex, "" when it is not known.
	Hash string
	// Licences are SPDX identifiers, all of which hold.
	Licences []string
}

// write writes the document.
func write(path, version string, parts []part) error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: "errata", Version: version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}}
	components := make([]cdx.Component, 0, len(parts))
	for _, p := range parts {
		c := cdx.Component{
			Type: cdx.ComponentTypeLibrary, BOMRef: p.URL, PackageURL: p.URL, Name: p.Name, Version: p.Version,
		}
		var licences cdx.Licenses
		for _, id := range p.Licences {
			licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id}})
		}
		if len(licences) > 0 {
			c.Licenses = &licences
		}
		if p.Hash != "" {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: p.Hash}}
		}
		components = append(components, c)
	}
	bom.Components = &components
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	err = cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// report prints the parts and their licences. The error names the parts that may not be
// shipped.
func report(w io.Writer, parts []part) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var doubtful []error
	for _, p := range parts {
		licences := slices.Sorted(slices.Values(p.Licences))
		fmt.Fprintf(table, "%s\t%s\t%s\n", p.Name, p.Version, join(licences))
		if len(licences) == 0 {
			doubtful = append(doubtful, fmt.Errorf("%s %s: no licence was recognised; read it and add it to the table", p.Name, p.Version))
		}
		for _, id := range licences {
			if !slices.Contains(fitting, id) {
				doubtful = append(doubtful, fmt.Errorf("%s %s: %s is not in the list of licences that may be shipped", p.Name, p.Version, id))
			}
		}
	}
	return errors.Join(append([]error{table.Flush()}, doubtful...)...)
}
