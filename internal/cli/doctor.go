package cli

import (
	"context"
	"errors"

	"dateline/internal/embedded"
	"dateline/internal/ops/doctor"
	"dateline/workflows"
)

// errChecksFailed is returned after failed checks were printed.
var errChecksFailed = errors.New("some checks failed; see above")

// doctor checks the settings, the host and the configured engines, or those of a
// running `dateline up`.
func (p *Program) doctor(ctx context.Context, args []string) error {
	set, file := p.flags("doctor")
	asJSON := set.Bool("json", false, "print the findings as JSON")
	cfg, _, err := p.settingsWith(set, file, args)
	if err != nil {
		return err
	}
	if cfg.DatabaseURL == "" || cfg.RedisURL == "" || cfg.S3Endpoint == "" || cfg.TemporalAddress == "" {
		if running, err := embedded.RunningEngines(cfg.DataDir); err == nil {
			cfg = running.Apply(cfg)
		}
	}
	found := doctor.Run(ctx, doctor.Options{Config: cfg, Keyset: keysetSource(cfg), SearchAttributes: workflows.SearchAttributes(), TaskQueue: workflows.PostQueue})
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
}
