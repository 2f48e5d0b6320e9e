// Package cli implements the command line: it loads the settings, assembles the
// components of the process, and runs them. Each command has a file. The commands in
// internal/cli/remote talk to a running instance over its REST API.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"dateline/internal/cli/remote"
	"dateline/internal/infra/config"
	"dateline/internal/infra/timezone"
)

// Program is one invocation of the command line.
type Program struct {
	Version string
	Commit  string // of the source; can be empty
	Date    string // of the commit; can be empty
	Source  string // address of the source files, see docs.Options; can be empty
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
}

// Groups of commands in the help.
const (
	clientGroup = "client"
	serverGroup = "server"
	toolGroup   = "tool"
)

// Root returns the tree of commands.
func (p *Program) Root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dateline",
		Short: "Dateline publishes scheduled posts, counts readers and crawls news",
		Long: "Dateline publishes scheduled posts to social networks, exactly once and on time.\nIt also " +
			"counts the readers of web sites and crawls news sites.",
		Version:       p.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetVersionTemplate(p.versionLine() + "\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		message, _, _ := strings.Cut(err.Error(), ": strconv.") // the rest names functions of Go
		return remote.UsageError(message)
	})
	root.AddGroup(
		&cobra.Group{ID: clientGroup, Title: "Commands for a running instance (see `dateline login --help`):"},
		&cobra.Group{ID: serverGroup, Title: "Commands that run Dateline:"},
		&cobra.Group{ID: toolGroup, Title: "Commands that maintain an installation:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(clientGroup, remote.Commands(remote.Options{Version: p.Version, Environ: p.Environ})...)
	add(serverGroup, p.up(), p.api(), p.worker(), p.migrate(), p.healthcheck())
	add(toolGroup, p.token(), p.loginLink(), p.keyset(), p.keys(), p.backup(), p.restore(), p.export(),
		p.importWorkspace(), p.quarantine(), p.doctor(),
		p.reindex(), p.eval(), p.temporal(), p.settings())
	root.AddCommand(&cobra.Command{
		Use: "version", Args: arguments(cobra.NoArgs),
		Short: "print version, commit, date and the version of the time zone database",
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), p.versionLine())
			return err
		},
	})
	return root
}

func (p *Program) versionLine() string {
	line := "dateline " + p.Version
	if p.Commit != "" {
		line += " (" + strings.TrimSpace(p.Commit+" "+p.Date) + ")"
	}
	zones := timezone.Current()
	return line + "\ntime zones " + zones.Version + " (" + zones.Source + ")"
}

// Run executes a command and returns the exit status.
func (p *Program) Run(ctx context.Context, args []string) int {
	root := p.Root()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	status := remote.ExitCode(err)
	if strings.HasPrefix(err.Error(), "unknown command") {
		status = remote.ExitUsage
	}
	if !errors.Is(err, remote.ErrReported) {
		_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", c.CommandPath(), err)
	}
	if status == remote.ExitUsage {
		_, _ = fmt.Fprintf(p.Stderr, "Run `%s --help` for its usage.\n", c.CommandPath())
	}
	return status
}

// usageError returns an error for invalid arguments.
func usageError(message string) error { return remote.UsageError(message) }

// arguments turns errors of an argument check into usage errors.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs { return remote.Arguments(check) }

// group returns a command that only has subcommands.
func (p *Program) group(use, short string) *cobra.Command { return remote.Group(use, short) }

// command is a command that reads the settings.
type command struct {
	*cobra.Command
	program *Program
	config  *string // nil if it reads no settings
}

const settingsHelp = "\nSettings are read from the environment, then from the file of --config.\nRun `dateline " +
	"settings` for a list of all.\n"

// command returns a command with the flag --config.
func (p *Program) command(use, short string) *command {
	c := p.plainCommand(use, short)
	c.config = c.Flags().String("config", "", "file of KEY=value `settings` (default: ./"+config.DefaultFile+
		" if it exists)")
	_ = c.MarkFlagFilename("config")
	c.SetUsageTemplate(c.UsageTemplate() + settingsHelp)
	return c
}

// plainCommand returns a command without settings.
func (p *Program) plainCommand(use, short string) *command {
	return &command{Command: &cobra.Command{Use: use, Short: short, Args: arguments(cobra.NoArgs)}, program: p}
}

// run sets what the command does.
func (c *command) run(do func(ctx context.Context, args []string) error) *cobra.Command {
	c.RunE = func(cc *cobra.Command, args []string) error { return do(cc.Context(), args) }
	return c.Command
}

// settings loads the settings.
func (c *command) settings() (*config.Config, *slog.Logger, error) {
	cfg, err := config.Load(*c.config, c.program.Environ)
	if err != nil {
		return nil, nil, err
	}
	return cfg, c.program.logger(cfg), nil
}

func (p *Program) logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, o))
}

// settings prints all settings.
func (p *Program) settings() *cobra.Command {
	c := p.plainCommand("settings", "list all settings with their defaults")
	return c.run(func(context.Context, []string) error { return config.Help(p.Stdout) })
}
