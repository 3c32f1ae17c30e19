package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/errata-log/errata/signature"
)

const errorsPath = "/api/v1/admin/tools/logs/errors"

// admin sends one request of the administration API and decodes its answer into
// to. An answer without 2xx is an error.
func (b *bench) admin(ctx context.Context, method, path string, body, to any) error {
	return b.call(ctx, b.adminKey, method, path, body, to)
}

func (b *bench) call(ctx context.Context, key, method, path string, body, to any) error {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+b.addr+path, in)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500)) // for the message only
		return fmt.Errorf("%s %s was answered %s: %s", method, path, resp.Status, text)
	}
	if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// count is the number of records that the list finds by the query.
func (b *bench) count(ctx context.Context, query string) (int, error) {
	var answer struct {
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	err := b.admin(ctx, http.MethodGet, errorsPath+"?limit=1&"+query, nil, &answer)
	return answer.Meta.Total, err
}

// remove deletes the records of the signatures and returns how many there were.
func (b *bench) remove(ctx context.Context, signatures []string) (int, error) {
	var answer struct {
		Data struct {
			Count int `json:"count"`
		} `json:"data"`
	}
	err := b.admin(ctx, http.MethodDelete, errorsPath, map[string]any{"signatures": signatures}, &answer)
	return answer.Data.Count, err
}

// clear deletes the records that were last seen at before or earlier, and returns
// how many.
func (b *bench) clear(ctx context.Context, before time.Time) (int, error) {
	var answer struct {
		Data struct {
			Deleted struct{ System, Database int } `json:"deleted"`
		} `json:"data"`
	}
	err := b.admin(ctx, http.MethodPost, errorsPath+"/cleanup", map[string]string{"before": before.Format(time.RFC3339Nano)}, &answer)
	return answer.Data.Deleted.System + answer.Data.Deleted.Database, err
}

// caughtUp returns when all events accepted so far are visible: it sends a delete
// of no record, which is answered after them.
func (b *bench) caughtUp(ctx context.Context) error {
	_, err := b.remove(ctx, []string{signature.Sign(signature.Identity{Place: "no such problem"}).String()})
	return err
}
