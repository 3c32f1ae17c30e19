package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// usageError is a mistake in the command line or the configuration. The program ends
// with code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// configFlag names the configuration file. It is a flag and an environment variable,
// and no key of the file.
const configFlag = "config"

// layer is one source of settings. Later layers win.
type layer struct {
	values *koanf.Koanf
	// place names the setting in this layer, for people.
	place func(name string) string
	path  string // of the file
}

// loadConfig reads the settings: defaults, then the file, then the environment, then
// the flags. Errors are usageErrors that name the setting and where it was set.
func loadConfig(flags *pflag.FlagSet, environ []string) (*config, error) {
	c := defaultConfig()
	known := settings(c)
	layers, err := readLayers(flags, environ, known)
	if err != nil {
		return nil, err
	}
	for _, s := range known {
		for _, from := range slices.Backward(layers) {
			if !from.values.Exists(s.name) {
				continue
			}
			if err := s.set(s.text(from.values.Get(s.name))); err != nil {
				return nil, usagef("%s: %w", from.place(s.name), err)
			}
			c.origins[s.name] = from.place(s.name)
			break
		}
	}
	if err := c.service.Validate(); err != nil {
		return nil, usageError{err}
	}
	c.openSecret = openSecret(known, layers)
	c.strays = straysIn(environ, known)
	return c, nil
}

// openSecret is the path of the configuration file if it holds a password and other
// users can read it, else "".
func openSecret(known []setting, layers []layer) string {
	file := layers[0]
	info, err := os.Stat(file.path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	for _, s := range known {
		if text := s.text(file.values.Get(s.name)); file.values.Exists(s.name) && s.redacted(text) != text {
			return file.path
		}
	}
	return ""
}

// readLayers reads file, environment and flags, weakest first.
func readLayers(flags *pflag.FlagSet, environ []string, known []setting) ([]layer, error) {
	fromFlags := koanf.New(".")
	if err := fromFlags.Load(posflag.Provider(flags, ".", nil), nil); err != nil {
		return nil, fmt.Errorf("read flags: %w", err)
	}
	for _, s := range known {
		if text := fromFlags.String(s.name); text != s.redacted(text) {
			return nil, usagef("--%s: a password on the command line can be read by every user of this machine; put it into %s or into the configuration file", s.name, envName(s.name))
		}
	}
	fromEnv := koanf.New(".")
	if err := fromEnv.Load(env.Provider("", env.Opt{
		EnvironFunc:   func() []string { return environ },
		Prefix:        envPrefix,
		TransformFunc: settingOfEnv(known),
	}), nil); err != nil {
		return nil, fmt.Errorf("read environment: %w", err)
	}
	path := fromFlags.String(configFlag)
	if path == "" {
		path = fromEnv.String(configFlag)
	}
	fromFile := koanf.New(".")
	if path != "" {
		if err := fromFile.Load(file.Provider(path), yamlFile{known}); err != nil {
			return nil, configFileError(path, err)
		}
	}
	return []layer{
		{fromFile, func(name string) string { return path + ": " + name }, path},
		{fromEnv, envName, ""},
		{fromFlags, func(name string) string { return "--" + name }, ""},
	}, nil
}

// settingOfEnv names the setting of an environment variable. It ignores variables
// that are no setting: ERRATA_KEY is one, and other programs may use the prefix. An
// empty variable counts as not set, since compose files pass empty ones for those
// that are missing.
func settingOfEnv(known []setting) func(key, value string) (string, any) {
	names := map[string]string{envName(configFlag): configFlag}
	for _, s := range known {
		names[envName(s.name)] = s.name
	}
	return func(key, value string) (string, any) {
		if value == "" {
			return "", nil
		}
		return names[key], value
	}
}

// yamlFile is the koanf parser of the configuration file: one flat mapping
// from setting to value, and nothing else.
type yamlFile struct{ known []setting }

// Unmarshal reads the file. These are errors that show the line: a key that is no
// setting, a key given twice, a mapping for a value, and text that is not YAML.
func (y yamlFile) Unmarshal(text []byte) (map[string]any, error) {
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	for _, doc := range parsed.Docs {
		for _, entry := range entries(doc.Body) {
			if name := keyText(entry); !y.has(name) {
				return nil, &yaml.UnknownFieldError{
					Message: fmt.Sprintf("%q is not a setting", name), Token: entry.Key.GetToken()}
			}
			if entries(entry.Value) != nil {
				return nil, &yaml.SyntaxError{
					Message: "want a single value or a list", Token: entry.Key.GetToken()}
			}
		}
	}
	values := map[string]any{}
	if err := yaml.UnmarshalWithOptions(text, &values, yaml.Strict()); err != nil {
		return nil, err
	}
	maps.DeleteFunc(values, func(_ string, v any) bool { return v == nil }) // "data:" without a value
	return values, nil
}

// entries are the keys and values of a mapping, nil for anything else.
func entries(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	default:
		return nil
	}
}

func keyText(entry *ast.MappingValueNode) string {
	if key, ok := entry.Key.(*ast.StringNode); ok {
		return key.Value
	}
	return entry.Key.String()
}

// Marshal is part of koanf's parser interface. This program never writes the file.
func (yamlFile) Marshal(map[string]any) ([]byte, error) {
	return nil, errors.New("the configuration file is never written")
}

func (y yamlFile) has(name string) bool {
	return slices.ContainsFunc(y.known, func(s setting) bool { return s.name == name })
}

// configFileError names the file and what is wrong with it, and shows the lines around
// the mistake where the parser knows them.
func configFileError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		var cause *os.PathError
		errors.As(err, &cause)
		return usagef("configuration file %s: %w", path, cause.Err)
	}
	return usagef("configuration file %s: %s", path, strings.TrimSpace(yaml.FormatError(err, false, true)))
}

// text is the value of a layer as a flag would give it: a list in the file becomes
// one text.
func (s setting) text(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	if s.apart != "" {
		return strings.Join(texts, s.apart)
	}
	return strings.Join(texts, ",")
}

// redact hides the passwords in URLs with commas between them, in the user part and
// in parameters.
func redact(text string) string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = redactURL(part)
	}
	return strings.Join(parts, ",")
}

// hidden is shown in place of a secret.
const hidden = "xxxxx"

func redactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		if strings.ContainsAny(text, "@?") {
			return hidden // it may hold a password
		}
		return text // host:port without a scheme
	}
	secret := false
	if _, has := u.User.Password(); has {
		u.User, secret = url.UserPassword(u.User.Username(), hidden), true
	} else if u.User.Username() != "" && (u.Scheme == "nats" || u.Scheme == "tls") {
		u.User, secret = url.User(hidden), true // NATS takes a lone user for a token
	}
	query := u.Query()
	for key := range query {
		switch strings.ToLower(key) {
		case "password", "token", "access_token", "jwt":
			query.Set(key, hidden)
			u.RawQuery, secret = query.Encode(), true
		}
	}
	if !secret {
		return text
	}
	return u.String()
}
