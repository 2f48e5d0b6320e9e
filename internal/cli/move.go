package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/site"
	"dateline/internal/embedded"
	"dateline/internal/identity/audit"
	"dateline/internal/infra/config"
	"dateline/internal/ops/archive"
)

// export writes everything that a workspace owns to one file, without secrets.
func (p *Program) export(ctx context.Context, args []string) error {
	set, file := p.flags("export")
	workspace := set.String("workspace", "", "`id` of the workspace; not needed where there is one")
	out := set.String("o", "", "`file` to write; - for standard output (default workspace-<time>.tar.zst)")
	parts, err := p.beside(ctx, set.Name(), set.Parse, args, file)
	if err != nil {
		return err
	}
	defer parts.close()
	id, err := workspaceID(*workspace)
	if err != nil {
		return err
	}
	owner, err := parts.store.OwnerOf(ctx, id)
	if err != nil {
		return err
	}
	path, to := *out, p.Stdout
	if path == "" {
		path = "workspace-" + time.Now().UTC().Format("20060102-150405") + ".tar.zst"
	}
	if path != "-" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		to = f
	}
	operator := audit.With(ctx, audit.Origin{Actor: audit.Operator})
	if err := parts.store.NoteMoved(operator, owner.WorkspaceID, audit.WorkspaceExported, nil); err != nil {
		return err
	}
	counts, err := archive.Export(ctx, to, archive.From{Source: parts.store, Objects: parts.objects, Workspace: owner.WorkspaceID, Version: p.Version})
	if err != nil {
		return err
	}
	for _, s := range archive.Sections() {
		_, _ = fmt.Fprintf(p.Stderr, "%-10s %d\n", s, counts[s])
	}
	return nil
}

// importing takes what export wrote into a workspace. Nothing of it goes out by
// itself.
func (p *Program) importing(ctx context.Context, args []string) error {
	set, file := p.flags("import")
	workspace := set.String("workspace", "", "`id` of the workspace; not needed where there is one")
	from := set.String("from", "", "`file` that `dateline export` or the API wrote")
	parts, err := p.beside(ctx, set.Name(), set.Parse, args, file)
	if err != nil {
		return err
	}
	defer parts.close()
	if *from == "" {
		return errors.New("name the archive: dateline import --from FILE")
	}
	id, err := workspaceID(*workspace)
	if err != nil {
		return err
	}
	in, err := os.Open(*from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	owner, err := parts.store.OwnerOf(ctx, id)
	if err != nil {
		return err
	}
	into := archive.Into{Store: parts.store, Objects: parts.objects, Media: parts.media, Who: owner, Sites: &site.Service{Store: parts.store, Sealer: parts.sealer}, Audit: parts.store.NoteMoved}
	if parts.crawl != nil {
		into.Seeds = parts.crawl.seeds
	}
	done, err := archive.Import(audit.With(ctx, audit.Origin{Actor: audit.Operator}), in, into)
	if err != nil {
		return err
	}
	for _, s := range archive.Sections()[1:] {
		_, _ = fmt.Fprintf(p.Stdout, "%-10s %d\n", s, done.Added[s])
	}
	for _, left := range done.Left {
		_, _ = fmt.Fprintf(p.Stdout, "left out: %s\n", left)
	}
	_, err = fmt.Fprintln(p.Stdout, "Nothing goes out by itself: connect the accounts, schedule the drafts, resume the series. Sites have new keys.")
	return err
}

func workspaceID(text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return id, fmt.Errorf("--workspace %s is no id", text)
	}
	return id, nil
}

// beside assembles the parts with the engines of the settings, or with those of a
// `dateline up` that runs.
func (p *Program) beside(ctx context.Context, name string, parse func([]string) error, args []string, file *string) (*parts, error) {
	switch err := parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, errUsage
	}
	cfg, err := config.Load(*file, p.Environ)
	if err != nil {
		return nil, err
	}
	if cfg.RequireEngines() != nil {
		running, err := embedded.RunningEngines(cfg.DataDir)
		if err != nil {
			return nil, err
		}
		cfg = running.Apply(cfg)
	}
	return assemble(ctx, cfg, p.logger(cfg), nil, process{service: name, version: p.Version})
}
