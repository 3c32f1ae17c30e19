package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed spec/*.yaml
var spec embed.FS

// rootFile is the file that the areas are joined to.
const rootFile = "root.yaml"

// Document is the whole document as JSON, its members in the order in which
// they are written. It is made once. The error names the file that is wrong.
var Document = sync.OnceValues(func() ([]byte, error) { return document(spec, "spec") })

// document joins the files of a folder.
func document(files fs.FS, dir string) ([]byte, error) {
	root, err := read(files, path.Join(dir, rootFile))
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("list the OpenAPI document: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == rootFile {
			continue
		}
		area, err := read(files, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if root, err = join(root, area); err != nil {
			return nil, fmt.Errorf("join %s to the OpenAPI document: %w", entry.Name(), err)
		}
	}
	text, err := yaml.MarshalWithOptions(root, yaml.JSON())
	var compact, escaped bytes.Buffer
	if err := errors.Join(err, json.Compact(&compact, text)); err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	json.HTMLEscape(&escaped, compact.Bytes()) // as in every other answer
	return escaped.Bytes(), nil
}

// read decodes one file with the order of its members.
func read(files fs.FS, name string) (yaml.MapSlice, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	var content yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &content, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("read %s of the OpenAPI document: %w", name, err)
	}
	return content, nil
}

// join adds the members of one mapping to another: mappings below paths and
// components are joined in turn, and nothing may be said twice.
func join(to, from yaml.MapSlice) (yaml.MapSlice, error) {
	for _, item := range from {
		i := slices.IndexFunc(to, func(known yaml.MapItem) bool { return known.Key == item.Key })
		if i < 0 {
			to = append(to, item)
			continue
		}
		into, isMap := to[i].Value.(yaml.MapSlice)
		more, alsoMap := item.Value.(yaml.MapSlice)
		if !isMap || !alsoMap {
			return nil, fmt.Errorf("%v is said twice", item.Key)
		}
		joined, err := join(into, more)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", item.Key, err)
		}
		to[i].Value = joined
	}
	return to, nil
}
