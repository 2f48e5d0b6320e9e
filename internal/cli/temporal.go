package cli

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"dateline/internal/embedded"
	"dateline/internal/infra/config"
)

func (p *Program) temporal() *cobra.Command {
	c := p.plainCommand("temporal ARGUMENT...", "run the Temporal CLI on the Temporal of this installation")
	c.Long = "Runs the Temporal CLI with the address, namespace and credentials of this installation, for " +
		"example:\n\n" +
		"  dateline temporal workflow list\n  dateline temporal workflow signal --workflow-id post/<id> --name " +
		"publish_now\n\n" +
		"Settings are read from the environment, then from ./" + config.DefaultFile +
		" if it exists. Variables such as TEMPORAL_ADDRESS\n" +
		"and TEMPORAL_NAMESPACE mean the same to both programs."
	c.config = new(string)
	c.DisableFlagParsing = true // all flags are the CLI's
	c.Args = nil
	return c.run(func(ctx context.Context, args []string) error {
		if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
			return c.Help()
		}
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		if cfg.TemporalAddress == "" {
			running, err := embedded.RunningEngines(cfg.DataDir)
			if err != nil {
				return err
			}
			cfg.TemporalAddress = running.TemporalAddress
		}
		program, err := embedded.TemporalProgram(ctx, p.Stderr)
		if err != nil {
			return err
		}
		env := append(os.Environ(), "TEMPORAL_ADDRESS="+cfg.TemporalAddress,
			"TEMPORAL_NAMESPACE="+cfg.TemporalNamespace,
			"TEMPORAL_TLS="+strconv.FormatBool(cfg.TemporalTLS))
		if key := cfg.TemporalAPIKey; key != "" {
			env = append(env, "TEMPORAL_API_KEY="+key)
		}
		return errors.Join(errors.New("starting "+program), syscall.Exec(program, append([]string{"temporal"}, args...),
			env))
	})
}
