//go:build !race

// reason: nothing here runs at the same time, and with the race detector it takes nine
// times as long.

package archtest

import (
	"os"
	"path/filepath"
	"testing"
)

// repository is the tree of this repository.
func repository(t *testing.T) *Tree {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
	tree, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestRepository(t *testing.T) {
	tree := repository(t)
	if tree.Module != "github.com/errata-log/errata" || len(tree.Go) < 10 {
		t.Fatalf("this is not the repository: module %q with %d Go files", tree.Module, len(tree.Go))
	}
	proxies := []string{os.Getenv("GOPROXY"), os.Getenv("GOSUMDB"), os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY")}
	folders := []string{filepath.Dir(tree.Root)}
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, home)
	}
	for _, rule := range []struct {
		name  string
		found []string
	}{
		{"imports", Imports(tree, Layers, Guards)},
		{"package comments", Comments(tree)},
		{"lengths", Lengths(tree)},
		{"names of the root", RootNames(tree)},
		{"skips and sleeps", Waits(tree)},
		{"hosts and paths", NewPlaces(proxies, folders).Find(tree)},
		{"links", Links(tree)},
		{"documents", Documents(tree)},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, finding := range rule.found {
				t.Error(finding)
			}
		})
	}
}
