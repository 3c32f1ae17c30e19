package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
)

// clientTimeout bounds one call. The slowest answers wait for the projection, which
// takes at most a few seconds.
const clientTimeout = 15 * time.Second

// maxAnswer bounds an answer in bytes; the longest one is a list of keys.
const maxAnswer = 8 << 20

// client talks to a running service through its HTTP API.
type client struct {
	http http.Client
	url  string // without a slash at the end
	key  string // "" for routes without a key
}

// addURL declares the flag that says where the service is.
func addURL(cmd *cobra.Command) {
	cmd.Flags().String("url", "", "`URL` of the service. Empty: the one that runs on the data folder, else made from --listen. [ERRATA_URL]")
}

// addKey declares the flag for the admin key.
func addKey(cmd *cobra.Command) {
	cmd.Flags().String("key", "", "Admin `key`, or @FILE that holds one. The file is better: everybody on this machine can read a command line. Empty: DATA/keys/admin.key. [ERRATA_KEY]")
}

// newClient finds the service; see [keyClient] for one with a key.
func newClient(cmd *cobra.Command, t *terminal, c *config) (*client, error) {
	if url := flagOrEnv(cmd, t, "url"); url != "" {
		return clientAt(strings.TrimRight(url, "/"), c, "")
	}
	return localClient(localURL(c), c)
}

// localClient is for the service that runs on the data folder, which has shown its
// certificate there.
func localClient(url string, c *config) (*client, error) {
	return clientAt(url, c, filepath.Join(c.service.Data, datadir.ShownFile))
}

// clientAt verifies the certificate of the service with the authorities of the system and
// of tls-ca, or with the file shown if there is one.
func clientAt(url string, c *config, shown string) (*client, error) {
	transport, err := certs.Transport(c.service.TLS.CAFile)
	if err == nil && shown != "" {
		err = certs.LocalClient(transport, shown)
	}
	if err != nil {
		return nil, err
	}
	return &client{http: http.Client{Timeout: clientTimeout, Transport: transport}, url: url}, nil
}

// keyClient finds the service and the admin key.
func keyClient(cmd *cobra.Command, t *terminal, c *config) (_ *client, err error) {
	service, err := newClient(cmd, t, c)
	if err == nil {
		service.key, err = readKey(cmd, t, c)
	}
	return service, err
}

// localURL is the service of the data folder, or where one with these settings would be.
func localURL(c *config) string {
	if holder, err := datadir.HolderOf(c.service.Data); err == nil && holder.URL != "" {
		return holder.URL
	}
	return c.service.TLS.Scheme() + "://" + datadir.LocalAddr(c.service.Listen)
}

// addJSON declares the flag --json; see [show].
func addJSON(cmd *cobra.Command, usage string) { cmd.Flags().Bool("json", false, usage) }

// show prints a value: as JSON where --json is given, else for people.
func show[T any](cmd *cobra.Command, value T, print func(io.Writer, T) error) error {
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), value)
	}
	return print(cmd.OutOrStdout(), value)
}

// printJSON prints a value as one line of JSON that cannot change a terminal.
func printJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = io.WriteString(w, printedJSON(string(text))+"\n")
	}
	return err
}

// errNoKey says where the command looks for a key.
var errNoKey = errors.New("no admin key: give --key @FILE or ERRATA_KEY, or --data the folder of the service, which holds keys/admin.key")

// readKey finds the admin key: flag, variable, then the file of the first start.
func readKey(cmd *cobra.Command, t *terminal, c *config) (string, error) {
	text := flagOrEnv(cmd, t, "key")
	if text == "" {
		text = "@" + filepath.Join(c.service.Data, datadir.AdminKeyFile)
	}
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return text, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", errNoKey, err)
	}
	return strings.TrimSpace(string(content)), nil
}

func flagOrEnv(cmd *cobra.Command, t *terminal, name string) string {
	if text, err := cmd.Flags().GetString(name); err == nil && text != "" {
		return text
	}
	text, _ := t.lookup(envName(name))
	return text
}

// apiError is an error that the service answers.
type apiError struct {
	Status    int
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
	// Details is for programs, nil for none.
	Details json.RawMessage `json:"details"`
}

func (e *apiError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("the service answered %d %s", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("the service answered %d %s: %s", e.Status, printed(e.Code), printed(e.Message))
}

// call sends one request and decodes the "data" of the answer into data, which may be
// nil. The error is an *apiError when the service refuses the request.
func (c *client) call(ctx context.Context, method, path string, body, data any) error {
	if data == nil {
		return c.answer(ctx, method, path, body, nil)
	}
	return c.answer(ctx, method, path, body, &struct {
		Data any `json:"data"`
	}{data})
}

// answer is call with the whole answer.
func (c *client) answer(ctx context.Context, method, path string, body, whole any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if whole == nil {
		return nil
	}
	if err := json.Unmarshal(text, whole); err != nil {
		return fmt.Errorf("the answer of %s %s is not Errata's: %w", method, path, err)
	}
	return nil
}

// send sends one request. The caller closes the body of the answer.
func (c *client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, usagef("url: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if _, refused := errors.AsType[*tls.CertificateVerificationError](err); refused {
		return nil, fmt.Errorf("reach the service: %w; ask for it by a name that its certificate is for, and name the authority of the certificate in tls-ca if the system does not know it", err)
	}
	if err != nil {
		return nil, fmt.Errorf("reach the service: %w", err)
	}
	if resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	refusal := struct {
		Error apiError `json:"error"`
	}{}
	_ = json.Unmarshal(text, &refusal) // of an answer that is not Errata's only the status is known
	refusal.Error.Status = resp.StatusCode
	return nil, &refusal.Error
}
