package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// kept describes a kept stock. Its tables may come from an older version; they
// are migrated then.
type kept struct {
	Records int       `json:"records"`
	End     time.Time `json:"end"`
	Events  int       `json:"events"`
	Millis  int64     `json:"millis"`
}

// eachStock measures a stock of each size in -records, after the engine has
// finished its merges.
func (b *bench) eachStock(name string, measure func(context.Context, *folding, corpus, filled) error) error {
	for _, n := range b.sizes.lists {
		if err := b.onStock(name+"-"+sizeName(n), n, measure); err != nil {
			return fmt.Errorf("%s records: %w", sizeName(n), err)
		}
	}
	return nil
}

func (b *bench) onStock(name string, n int, measure func(context.Context, *folding, corpus, filled) error) (err error) {
	ctx := context.Background()
	f, c, done, err := b.stock(ctx, name, n)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.close())
		if b.stocks == "" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, name)))
		}
	}()
	if err := f.settle(ctx); err != nil {
		return err
	}
	return measure(ctx, f, c, done)
}

// stock is a projection of a corpus of n problems: a kept one, or one that is
// filled now.
func (b *bench) stock(ctx context.Context, name string, n int) (_ *folding, c corpus, done filled, err error) {
	var was kept
	dir := filepath.Join(b.dir, name)
	if b.stocks != "" {
		dir = filepath.Join(b.stocks, name)
		if was, err = readKept(dir); err != nil {
			return nil, c, done, err
		}
	}
	f, err := b.folding(dir)
	if err != nil {
		return nil, c, done, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if was.Records == n {
		// A new projector first reads the log's last day for its window.
		if err = f.visible(ctx); err != nil {
			return nil, c, done, err
		}
		return f, corpus{n: n, end: was.End}, filled{events: was.Events, took: time.Duration(was.Millis) * time.Millisecond}, nil
	}
	c = newCorpus(n)
	if done, err = f.fill(ctx, c); err != nil {
		return nil, c, done, fmt.Errorf("fill: %w", err)
	}
	if err = f.check(ctx, c, done); err != nil {
		return nil, c, done, err
	}
	if err = f.move(ctx, c); err != nil {
		return nil, c, done, fmt.Errorf("give statuses: %w", err)
	}
	if b.stocks == "" {
		return f, c, done, nil
	}
	return f, c, done, writeKept(dir, kept{n, c.end, done.events, done.took.Milliseconds()})
}

func keptFile(dir string) string { return filepath.Join(dir, "stock.json") }

func readKept(dir string) (was kept, err error) {
	data, err := os.ReadFile(keptFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil
	}
	if err != nil {
		return was, err
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return was, fmt.Errorf("read %s: %w", keptFile(dir), err)
	}
	return was, nil
}

func writeKept(dir string, is kept) error {
	data, err := json.Marshal(is)
	if err != nil {
		return err
	}
	return os.WriteFile(keptFile(dir), data, 0o600)
}
