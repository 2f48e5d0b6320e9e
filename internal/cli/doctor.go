package cli

import (
	"context"
	"errors"

	"dateline/internal/embedded"
	"dateline/internal/ops/doctor"
	"dateline/workflows"
)

// errUnwell says that a check failed; what failed is printed already.
var errUnwell = errors.New("something does not work; see above")

// doctor looks at everything that this installation stands on: the engines of
// the settings, or those of a `dateline up` beside.
func (p *Program) doctor(ctx context.Context, args []string) error {
	set, file := p.flags("doctor")
	asJSON := set.Bool("json", false, "write the findings as JSON")
	cfg, _, err := p.settingsWith(set, file, args)
	if err != nil {
		return err
	}
	if cfg.DatabaseURL == "" || cfg.RedisURL == "" || cfg.S3Endpoint == "" || cfg.TemporalAddress == "" {
		if running, err := embedded.RunningEngines(cfg.DataDir); err == nil {
			cfg = running.Apply(cfg)
		}
	}
	found := doctor.Examine(ctx, doctor.Options{Config: cfg, Keyset: keysetOf(cfg), SearchAttributes: workflows.SearchAttributes(), TaskQueue: workflows.PostQueue})
	write := doctor.Print
	if *asJSON {
		write = doctor.PrintJSON
	}
	if err := write(p.Stdout, found); err != nil {
		return err
	}
	if doctor.Failed(found) {
		return errUnwell
	}
	return nil
}
