package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is one kind of file below the data folder.
type kind struct {
	name string
	// find returns the files of the kind; one of them is damaged.
	find func(data string) ([]string, error)
	// silent kinds are made again from others without a report; all other
	// damage must be noticed.
	silent bool
	// accepted damage needs one command of an operator, because facts are lost
	// for good.
	accepted bool
}

// kinds are the kinds of files that are damaged.
var kinds = []kind{
	{name: "log block old", find: logBlock(func(n int) int { return 0 }), accepted: true},
	{name: "log block young", find: logBlock(func(n int) int { return n - 2 }), accepted: true},
	{name: "log block last", find: logBlock(func(n int) int { return n - 1 }), accepted: true},
	{name: "log index.db", find: inStream("LOG", "msgs/index.db"), silent: true},
	{name: "log meta.inf", find: inStream("LOG", "meta.inf")},
	{name: "keys block", find: inStream("KV_keys", "msgs/*.blk")},
	{name: "keys meta.inf", find: inStream("KV_keys", "meta.inf")},
	{name: "audit block", find: inStream("AUDIT", "msgs/*.blk")},
	{name: "part data", find: inPart("records", "data.bin")},
	{name: "part mark", find: inPart("records", "data.cmrk*")},
	{name: "part checksums.txt", find: inPart("records", "checksums.txt")},
	{name: "part primary index", find: inPart("records", "primary.cidx")},
	{name: "projection data", find: inPart("records", "*.proj/data.bin")},
	{name: "projection mark", find: inPart("records", "*.proj/data.cmrk*")},
	{name: "skip index", find: inPart("records", "skp_idx_*.idx*")},
	{name: "skip index mark", find: inPart("records", "skp_idx_*.cmrk*")},
	{name: "payload data", find: inPart("contexts", "data.bin")},
	{name: "hours data", find: inPart("hourly", "data.bin")},
	{name: "deployments data", find: inPart("deployments", "data.bin")},
	{name: "occurrences data", find: inPart("occurrences", "data.bin")},
}

const streamsDir = "nats/jetstream/$G/streams"

// inStream are files of a stream.
func inStream(stream, pattern string) func(string) ([]string, error) {
	return func(data string) ([]string, error) {
		return filepath.Glob(filepath.Join(data, streamsDir, stream, pattern))
	}
}

// logBlock is one block file of the log, by its place among all.
func logBlock(place func(n int) int) func(string) ([]string, error) {
	return func(data string) ([]string, error) {
		files, err := inStream("LOG", "msgs/*.blk")(data)
		if err != nil {
			return nil, err
		}
		number := func(path string) int {
			n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".blk"))
			return n
		}
		slices.SortFunc(files, func(a, b string) int { return number(a) - number(b) })
		i := place(len(files))
		if i < 0 || i >= len(files) {
			return nil, fmt.Errorf("the log has %d blocks only", len(files))
		}
		return files[i : i+1], nil
	}
}

var tableID = regexp.MustCompile(`UUID '([0-9a-f-]{36})'`)

// tableDir is the folder of a table's parts.
func tableDir(data, table string) (string, error) {
	store := filepath.Join(data, "clickhouse", "store")
	database, err := os.ReadFile(filepath.Join(data, "clickhouse", "metadata", "errata_store.sql"))
	if err != nil {
		return "", fmt.Errorf("find the tables: %w", err)
	}
	dir, err := storeDir(store, database)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, table+".sql"))
	if err != nil {
		return "", fmt.Errorf("find the table %s: %w", table, err)
	}
	return storeDir(store, text)
}

func storeDir(store string, definition []byte) (string, error) {
	id := tableID.FindSubmatch(definition)
	if id == nil {
		return "", errors.New("a definition of ClickHouse has no UUID")
	}
	return filepath.Join(store, string(id[1][:3]), string(id[1])), nil
}

// largestPart is the folder of the active part with the most data.
func largestPart(table string) (string, error) {
	entries, err := os.ReadDir(table)
	if err != nil {
		return "", fmt.Errorf("list the parts: %w", err)
	}
	var best string
	var most int64
	for _, e := range entries {
		if !e.IsDir() || covered(e.Name(), entries) {
			continue
		}
		info, err := os.Stat(filepath.Join(table, e.Name(), "data.bin"))
		if err == nil && info.Size() > most {
			best, most = filepath.Join(table, e.Name()), info.Size()
		}
	}
	if best == "" {
		return "", fmt.Errorf("%s has no part", table)
	}
	return best, nil
}

var partName = regexp.MustCompile(`^([0-9a-z]+)_(\d+)_(\d+)_(\d+)(?:_\d+)?$`)

// covered says whether another part was merged from this one, among others. It
// is true too for a name that is not that of a part.
func covered(name string, entries []fs.DirEntry) bool {
	p := partName.FindStringSubmatch(name)
	if p == nil {
		return true
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		q := partName.FindStringSubmatch(e.Name())
		return q != nil && q[1] == p[1] && e.Name() != name &&
			number(q[2]) <= number(p[2]) && number(q[3]) >= number(p[3]) && number(q[4]) > number(p[4])
	})
}

// inPart are files of the largest part of a table.
func inPart(table, pattern string) func(string) ([]string, error) {
	return func(data string) ([]string, error) {
		dir, err := tableDir(data, table)
		if err != nil {
			return nil, err
		}
		part, err := largestPart(dir)
		if err != nil {
			return nil, err
		}
		return filepath.Glob(filepath.Join(part, pattern))
	}
}

// harm is one way to damage a file.
type harm struct {
	name string
	do   func(path string, random *rand.Rand) (detail string, err error)
}

var (
	flip  = harm{"flip", flipBit}
	short = harm{"truncate", truncate}
	gone  = harm{"delete", remove}
)

func flipBit(path string, random *rand.Rand) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the file to damage: %w", err)
	}
	if len(text) == 0 {
		return "", fmt.Errorf("%s is empty", path)
	}
	at, bit := random.IntN(len(text)), random.IntN(8)
	text[at] ^= 1 << bit
	return fmt.Sprintf("bit %d of byte %d of %d", bit, at, len(text)), overwrite(path, text)
}

// overwrite changes a file in place.
func overwrite(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("damage a file: %w", err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func truncate(path string, random *rand.Rand) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at the file to damage: %w", err)
	}
	if info.Size() == 0 {
		return "", fmt.Errorf("%s is empty", path)
	}
	to := random.Int64N(info.Size())
	return fmt.Sprintf("cut from %d bytes to %d", info.Size(), to), os.Truncate(path, to)
}

func remove(path string, _ *rand.Rand) (string, error) {
	return "deleted", os.RemoveAll(path)
}
