// Package cli is the command line: it reads settings, assembles the parts and
// runs them. Each subcommand has its file.
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

// Program is one run of the command line.
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
		{"up", "start everything on this machine: missing engines, API, worker, sandbox", p.up},
		{"api", "serve the API (engines by URL)", p.api},
		{"worker", "run workflows and activities (engines by URL)", p.worker},
		{"migrate", "bring the database schema up to date", p.migrate},
		{"token", "make a new API token for the first owner", p.token},
		{"login", "print a link that logs the first owner in once, with a browser", p.login},
		{"keyset", "keyset new FILE: make the keys that seal account tokens", p.keyset},
		{"keys", "list, rotate, reseal and retire the keys that seal account tokens", p.keys},
		{"backup", "write everything that is kept in the database to one file, while all goes on", p.backup},
		{"restore", "load a backup into an empty database; what may be published already waits for a person", p.restore},
		{"export", "write everything that a workspace owns to one file, without secrets", p.export},
		{"import", "take such a file into a workspace; nothing of it goes out by itself", p.importing},
		{"quarantine", "list, replay or discard records of readers' counts that could not be read", p.quarantine},
		{"doctor", "look at settings, engines, clocks, permissions and keys, and say what to do (--json)", p.doctor},
		{"reindex", "build the index of the search anew, while the old one answers", p.reindex},
		{"eval", "eval articles --data DIR: how well and how fast articles are read, beside go-trafilatura", p.eval},
		{"healthcheck", "ask a local api (or, with the argument worker, worker) whether it is ready", p.healthcheck},
		{"build-temporald", "build the embedded Temporal server", p.buildTemporald},
		{"version", "print the version", func(context.Context, []string) error {
			_, err := fmt.Fprintln(p.Stdout, "dateline", p.Version)
			return err
		}},
	}
}

// errUsage says that the arguments made no sense; what is wrong is printed
// already.
var errUsage = errors.New("usage")

// Run carries out a command line and gives the exit status.
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
	_, _ = fmt.Fprintf(p.Stderr, "dateline: there is no command %q\n\n", args[0])
	p.usage()
	return 2
}

func (p *Program) usage() {
	_, _ = fmt.Fprint(p.Stderr, "Dateline publishes scheduled posts to social networks, each on its second and never twice.\n\nUsage: dateline <command> [flags]\n\n")
	for _, c := range p.commands() {
		_, _ = fmt.Fprintf(p.Stderr, "  %-16s %s\n", c.name, c.summary)
	}
	_, _ = fmt.Fprint(p.Stderr, "\n`dateline up --help` lists every setting.\n")
}

// flags makes a flag set whose help also lists every setting.
func (p *Program) flags(name string) (set *flag.FlagSet, configFile *string) {
	set = flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(p.Stderr)
	configFile = set.String("config", "", "file of KEY=value `settings` (default ./dateline.env if it exists)")
	set.Usage = func() {
		set.SetOutput(p.Stdout)
		_, _ = fmt.Fprintf(p.Stdout, "Usage: dateline %s [flags]\n\nFlags:\n", name)
		set.PrintDefaults()
		_, _ = fmt.Fprint(p.Stdout, "\nSettings, from the environment or the file:\n\n")
		_ = config.Help(p.Stdout)
	}
	return set, configFile
}

// parse reads flags that take no further arguments.
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

// settings loads the configuration for commands that need every engine's URL.
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
