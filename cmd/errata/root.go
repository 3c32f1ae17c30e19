package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//nolint:dupword // a command, and what it does
const rootHelp = `Errata keeps the errors of your applications: one record per problem, counted
exactly, found again by signature.

  errata serve            start the service; everything is kept in ./data
  errata doctor           check this machine and the running service
  errata errors list      the errors, those seen last first
  errata projects create  make a project for an application, with its DSN
  errata keys list        the API keys of the running service
  errata import           import old error files
  errata backup FOLDER    copy everything that the running service keeps

Every setting is a flag, an environment variable and a key of the
configuration file, all with the same name:

  --log-max-bytes 2GiB    on the command line, which wins over
  ERRATA_LOG_MAX_BYTES    in the environment, which wins over
  log-max-bytes: 2GiB     in the file that --config or ERRATA_CONFIG names

"errata config print" shows what holds and where it comes from.`

// helpWidth is where the help wraps its lines, so that it fits half a screen.
const helpWidth = 100

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "errata",
		Short:         "Keeps the errors of your applications",
		Long:          rootHelp,
		SilenceErrors: true, // run prints them, once
		SilenceUsage:  true, // an error does not need the whole help
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(),
		".FlagUsages |", fmt.Sprintf(".FlagUsagesWrapped %d |", helpWidth)))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w\nRun \"%s -h\" for the flags.", err, cmd.CommandPath())
	})
	root.AddCommand(
		newServe(t), newErrors(t), newProjects(t), newAlerts(t), newKeys(t), newAudit(t), newSecurity(t), newGeo(t), newImport(t), newReplay(t), newLog(t), newBackup(t), newRestore(t), newCluster(t), newErase(t), newDead(t), newSignature(t), newMCP(t), newDoctor(t), newHealthcheck(t), newBench(t), newBenchSink(), newConfig(t), newVersion(),
	)
	for _, cmd := range root.Commands() {
		refuseStray(cmd)
	}
	return root
}

// group is a command that only has subcommands.
func group(use, short, long string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long}
	cmd.AddCommand(below...)
	return cmd
}

// configured loads the settings for a command.
func configured(t *terminal, do func(cmd *cobra.Command, c *config, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := loadConfig(cmd.Flags(), t.environ)
		if err != nil {
			return err
		}
		return do(cmd, c, args)
	}
}

// knownCommand refuses a first word that is no command, and suggests similar ones.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("run \"%s -h\" for the commands", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean \"" + strings.Join(near, "\" or \"") + "\"?"
	}
	return usagef("unknown command %q: %s", args[0], hint)
}

// refuseStray makes two mistakes usage errors, for a command and its subcommands: a
// wrong number of arguments, and a group without a subcommand.
func refuseStray(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%w\nRun \"%s -h\" for help.", err, cmd.CommandPath())
		}
		return nil
	}
	if cmd.Run == nil && cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			var names []string
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return usagef("%s wants one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
		}
	}
	for _, sub := range cmd.Commands() {
		refuseStray(sub)
	}
}

// addSettings declares the named settings as flags, or all of them when none is
// named. The flags hold text, which loadConfig reads.
func addSettings(cmd *cobra.Command, names ...string) {
	flags := cmd.Flags()
	flags.SortFlags = false // related settings stand together
	flags.String(configFlag, "", fmt.Sprintf("Configuration `file`, YAML. [%s]", envName(configFlag)))
	for _, s := range settings(defaultConfig()) {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		usage := fmt.Sprintf("%s [%s]", s.usage, envName(s.name))
		flags.Var(&flagText{text: s.get(), hint: s.hint}, s.name, usage)
		if s.hint == "" {
			flags.Lookup(s.name).NoOptDefVal = "true"
		}
	}
}

// flagText is a flag that keeps its text.
type flagText struct{ text, hint string }

var _ pflag.Value = (*flagText)(nil)

func (f *flagText) Set(text string) error { f.text = text; return nil }
func (f *flagText) String() string        { return f.text }

// Type is shown behind the flag in the help, except "bool".
func (f *flagText) Type() string {
	if f.hint == "" {
		return "bool"
	}
	return f.hint
}
