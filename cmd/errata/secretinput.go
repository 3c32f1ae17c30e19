package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// fromInput as the value of a flag stands for standard input.
const fromInput = "-"

// maxSecretInput is far more than any secret or URL has, in bytes.
const maxSecretInput = 64 << 10

// secretText is the value of a flag for a secret: the text itself, that of a file for
// @FILE, or that of standard input for "-". On a terminal it asks, and shows nothing of
// what is typed.
func secretText(cmd *cobra.Command, flag, value string) (string, error) {
	if path, isFile := strings.CutPrefix(value, "@"); isFile {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", usagef("--%s: %w", flag, err)
		}
		return oneSecret(flag, content)
	}
	if value != fromInput {
		return value, nil
	}
	in := cmd.InOrStdin()
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: ", flag); err != nil {
			return "", err
		}
		typed, err := term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(cmd.ErrOrStderr()) // the line that was not shown ends
		if err != nil {
			return "", fmt.Errorf("read --%s: %w", flag, err)
		}
		return oneSecret(flag, typed)
	}
	content, err := io.ReadAll(io.LimitReader(in, maxSecretInput))
	if err != nil {
		return "", fmt.Errorf("read --%s: %w", flag, err)
	}
	return oneSecret(flag, content)
}

// oneSecret is the one line of the content. Errors show nothing of it.
func oneSecret(flag string, content []byte) (string, error) {
	text := strings.TrimSpace(string(content))
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return "", usagef("--%s: want one line, which is not empty", flag)
	}
	return text, nil
}
