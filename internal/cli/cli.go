// Package cli implements the command line: it loads the settings, assembles the
// components of the process, and runs them. Each subcommand has a file.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"dateline/internal/infra/config"
)

// Program is one invocation of the command line.
type Program struct {
	Version string
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
}

type command struct {
	name, summary string
	run           func(ctx context.Context, args []string) error
}

func (p *Program) commands() []command {
	return []command{
		{"up", "start everything on this machine: engines without a URL, API, worker and sandbox", p.up},
		{"api", "serve the API", p.api},
		{"worker", "run the worker for workflows and activities", p.worker},
		{"migrate", "migrate the database schema", p.migrate},
		{"token", "create a new API token for the first owner", p.token},
		{"login", "print a one-time login link for the first owner", p.login},
		{"keyset", "keyset new FILE: create the keyset that encrypts access tokens", p.keyset},
		{"keys", "list, rotate and retire the keys that encrypt access tokens", p.keys},
		{"backup", "back up the database to a file, without downtime", p.backup},
		{"restore", "restore a backup into an empty database; posts that may already be published are held", p.restore},
		{"export", "export a workspace to a file, without secrets", p.export},
		{"import", "import an exported file into a workspace; no posts are published automatically", p.importWorkspace},
		{"quarantine", "list, replay or discard unreadable view count records", p.quarantine},
		{"doctor", "check settings, engines, clocks, permissions and keys (--json)", p.doctor},
		{"reindex", "rebuild the search index without downtime", p.reindex},
		{"eval", "eval articles --data DIR: measure extraction quality and speed, compared with go-trafilatura", p.eval},
		{"healthcheck", "check that the local api (or worker, as argument) is ready", p.healthcheck},
		{"build-temporald", "build the embedded Temporal server", p.buildTemporald},
		{"version", "print the version", func(context.Context, []string) error {
			_, err := fmt.Fprintln(p.Stdout, "dateline", p.Version)
			return err
		}},
	}
}

// errUsage is returned for invalid arguments, after the message was printed.
var errUsage = errors.New("usage")

// Run executes a command and returns the exit status.
func (p *Program) Run(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		p.usage()
		return 0
	}
	for _, c := range p.commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:])
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		default:
			_, _ = fmt.Fprintf(p.Stderr, "dateline %s: %s\n", c.name, err)
			return 1
		}
	}
	_, _ = fmt.Fprintf(p.Stderr, "dateline: unknown command %q\n\n", args[0])
	p.usage()
	return 2
}

func (p *Program) usage() {
	_, _ = fmt.Fprint(p.Stderr, "Dateline publishes scheduled posts to social networks, exactly once and on time.\n\nUsage: dateline <command> [flags]\n\n")
	for _, c := range p.commands() {
		_, _ = fmt.Fprintf(p.Stderr, "  %-16s %s\n", c.name, c.summary)
	}
	_, _ = fmt.Fprint(p.Stderr, "\nRun `dateline up --help` for a list of all settings.\n")
}

// flags returns a flag set whose help also lists all settings.
func (p *Program) flags(name string) (set *flag.FlagSet, configFile *string) {
	set = flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(p.Stderr)
	configFile = set.String("config", "", "file of KEY=value `settings` (default: ./dateline.env if it exists)")
	set.Usage = func() {
		set.SetOutput(p.Stdout)
		_, _ = fmt.Fprintf(p.Stdout, "Usage: dateline %s [flags]\n\nFlags:\n", name)
		set.PrintDefaults()
		_, _ = fmt.Fprint(p.Stdout, "\nSettings:\n\n")
		_ = config.Help(p.Stdout)
	}
	return set, configFile
}

// parse parses flags and rejects positional arguments.
func (p *Program) parse(set *flag.FlagSet, args []string) error {
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if set.NArg() > 0 {
		_, _ = fmt.Fprintf(p.Stderr, "dateline %s: unexpected argument %q\n", set.Name(), set.Arg(0))
		return errUsage
	}
	return nil
}

// settings parses the flags and loads the settings.
func (p *Program) settings(name string, args []string) (*config.Config, *slog.Logger, error) {
	set, file := p.flags(name)
	return p.settingsWith(set, file, args)
}

func (p *Program) settingsWith(set *flag.FlagSet, file *string, args []string) (*config.Config, *slog.Logger, error) {
	if err := p.parse(set, args); err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(*file, p.Environ)
	if err != nil {
		return nil, nil, err
	}
	return cfg, p.logger(cfg), nil
}

func (p *Program) logger(cfg *config.Config) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, o))
}
