package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// linked are the modules in the programs, each once, and the version of our module.
func linked(ctx context.Context, programs []*buildinfo.BuildInfo) (version string, parts []part, err error) {
	seen := map[string]bool{}
	for _, info := range programs {
		version = info.Main.Version
		compiler := part{
			Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
			URL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Licences: []string{"BSD-3-Clause"},
		}
		if !seen[compiler.URL] {
			parts = append(parts, compiler)
		}
		seen[compiler.URL] = true
		for _, module := range info.Deps {
			if module.Replace != nil {
				module = module.Replace
			}
			url := "pkg:golang/" + module.Path + "@" + module.Version
			if seen[url] {
				continue
			}
			seen[url] = true
			folder, err := folderOf(ctx, module.Path, module.Version)
			if err != nil {
				return "", nil, err
			}
			licences, err := licencesIn(folder)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", module.Path, err)
			}
			parts = append(parts, part{Name: module.Path, Version: module.Version, URL: url, Licences: licences})
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.URL, b.URL) })
	return version, parts, nil
}

// folderOf is the folder of the module in Go's module cache.
func folderOf(ctx context.Context, path, version string) (string, error) {
	told, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", path+"@"+version).Output()
	if err != nil {
		return "", fmt.Errorf("find %s@%s: %w", path, version, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(told, &module); err != nil {
		return "", fmt.Errorf("find %s@%s: %w", path, version, err)
	}
	return module.Dir, nil
}

// bundledInPage are the packages in the built page, without those that only build or
// test it.
func bundledInPage(root string) ([]part, error) {
	text, err := os.ReadFile(filepath.Join(root, "web", "package-lock.json"))
	if err != nil {
		return nil, fmt.Errorf("read what the page is built with: %w", err)
	}
	var lock struct {
		Packages map[string]struct {
			Version, License     string
			Dev, DevOptional     bool
			Optional, Extraneous bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read what the page is built with: %w", err)
	}
	var parts []part
	for place, p := range lock.Packages {
		if place == "" || p.Dev || p.DevOptional || p.Optional {
			continue
		}
		name := place[strings.LastIndex(place, "node_modules/")+len("node_modules/"):]
		one := part{Name: name, Version: p.Version, URL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version}
		if p.License != "" {
			one.Licences = []string{p.License}
		}
		parts = append(parts, one)
	}
	if len(parts) == 0 {
		return nil, errors.New("web/package-lock.json names no package that the page is built with")
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.URL, b.URL) })
	return parts, nil
}

// fetchedLibrary is the ClickHouse library of a platform. It is not in the programs;
// errata-engine loads it. The script that fetches it knows a sum for some platforms.
func fetchedLibrary(root, name string) (part, error) {
	text, err := os.ReadFile(filepath.Join(root, "engine", "fetch-libchdb.sh"))
	if err != nil {
		return part{}, fmt.Errorf("read which ClickHouse library is fetched: %w", err)
	}
	version := regexp.MustCompile(`(?m)^version=(\S+)$`).FindSubmatch(text)
	row := regexp.MustCompile(`package=` + regexp.QuoteMeta(name) + `(?:\s+sha256=(\S+)| ;;)`).FindSubmatch(text)
	if version == nil || row == nil {
		return part{}, fmt.Errorf("engine/fetch-libchdb.sh does not name a version and the package %s", name)
	}
	return part{
		Name: name, Version: string(version[1]), Hash: string(row[1]),
		URL:      "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + string(version[1]),
		Licences: []string{"Apache-2.0"},
	}, nil
}
