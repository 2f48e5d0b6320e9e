package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"dateline/internal/embedded"
	"dateline/internal/ops/doctor"
	"dateline/workflows"
)

// errChecksFailed is returned after failed checks were printed.
var errChecksFailed = errors.New("some checks failed; see above")

// doctor checks the settings, the host and the configured engines, or those of a
// running `dateline up`.
func (p *Program) doctor() *cobra.Command {
	c := p.command("doctor", "check settings, engines, clocks, permissions and keys")
	asJSON := c.Flags().Bool("json", false, "print the findings as JSON")
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		if cfg.DatabaseURL == "" || cfg.RedisURL == "" || cfg.S3Endpoint == "" || cfg.TemporalAddress == "" {
			if running, err := embedded.RunningEngines(cfg.DataDir); err == nil {
				cfg = running.Apply(cfg)
			}
		}
		found := doctor.Run(ctx, doctor.Options{
			Config: cfg, Keyset: keysetSource(cfg), SearchAttributes: workflows.SearchAttributes(),
			TaskQueue: workflows.PostQueue,
		})
		write := doctor.Print
		if *asJSON {
			write = doctor.PrintJSON
		}
		if err := write(p.Stdout, found); err != nil {
			return err
		}
		if doctor.Failed(found) {
			return errChecksFailed
		}
		return nil
	})
}
