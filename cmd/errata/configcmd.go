package main

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

func newConfig(t *terminal) *cobra.Command {
	print := &cobra.Command{
		Use:   "print",
		Short: "Print the settings that hold, as a configuration file",
		Long:  "Print the settings that hold, as a configuration file, and behind each where it was set.\nPasswords are printed as " + hidden + ".",
		RunE:  configured(t, printConfig),
	}
	validate := &cobra.Command{
		Use:   "validate",
		Short: "Check the settings; exit code 2 names the wrong one",
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			if err := checkStrays(c.strays, func(s stray) { fmt.Fprintln(cmd.ErrOrStderr(), s) }); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "the configuration is valid")
			return err
		}),
	}
	addSettings(print)
	addSettings(validate)
	return group("config", "Show or check the configuration",
		"Show or check the configuration as \"errata serve\" would read it with the same\nflags, environment and file.", print, validate)
}

// printConfig writes each setting as a line of a configuration file.
func printConfig(cmd *cobra.Command, c *config, _ []string) error {
	for _, s := range settings(c) {
		text := s.redacted(s.get())
		if s.hint != "" && s.hint != "n" { // texts need YAML's quotes, numbers and booleans must have none
			value, err := yaml.Marshal(text)
			if err != nil {
				return fmt.Errorf("print %s: %w", s.name, err)
			}
			text = strings.TrimSpace(string(value))
		}
		line := fmt.Sprintf("%s: %s", s.name, text)
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-40s # %s\n", line, c.origin(s.name)); err != nil {
			return err
		}
	}
	return nil
}
