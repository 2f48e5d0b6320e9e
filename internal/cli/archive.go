package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dateline/internal/audience/site"
	"dateline/internal/cli/progress"
	"dateline/internal/embedded"
	"dateline/internal/identity/audit"
	"dateline/internal/system/archive"
)

// export writes a workspace to a file, without secrets.
func (p *Program) export() *cobra.Command {
	c := p.command("export", "export a workspace to a file, without secrets")
	workspace := c.Flags().String("workspace", "", "`ID` of the workspace; optional if there is only one")
	out := c.Flags().StringP("output", "o", "",
		"output `file`; - for standard output (default: workspace-<time>.tar.zst)")
	open := c.showProgress()
	return c.run(func(ctx context.Context, _ []string) error {
		line := open()
		parts, err := p.assembleRunning(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		id, err := workspaceID(*workspace)
		if err != nil {
			return err
		}
		owner, err := parts.store.Installation.Archive.OwnerOf(ctx, id)
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
		if err := parts.store.Installation.Archive.AuditArchive(operator, owner.WorkspaceID, audit.WorkspaceExported,
			nil); err != nil {
			return err
		}
		counts, err := archive.Export(ctx, to, archive.ExportOptions{
			Source: parts.store.Installation.Archive, Objects: parts.objects, Workspace: owner.WorkspaceID,
			Version: p.Version, OnProgress: reportExport(line),
		})
		at := line.End()
		if err != nil {
			if path == "-" {
				return canceled(ctx, err, "the archive on standard output is incomplete (%s); discard it and run the "+
					"command again", at)
			}
			err = canceled(ctx, err, "no file was written (%s); run the command again", at)
			return errors.Join(err, os.Remove(path))
		}
		for _, s := range archive.Sections() {
			_, _ = fmt.Fprintf(p.Stderr, "%-10s %d\n", s, counts[s])
		}
		return nil
	})
}

// reportExport returns the function that shows the progress of an export.
func reportExport(line *progress.Line) func(archive.Progress) error {
	return func(p archive.Progress) error {
		part, at := "rows", progress.State{Total: int64(p.RowsTotal), Unit: "rows"}
		for _, n := range p.Rows {
			at.Done += int64(n)
		}
		if p.FilesTotal > 0 {
			part, at = "files", progress.State{Done: int64(p.Files), Total: int64(p.FilesTotal), Unit: "files"}
		}
		line.Update("Exporting "+part, at)
		return nil
	}
}

// importWorkspace imports an exported file into a workspace. No posts are published
// automatically.
func (p *Program) importWorkspace() *cobra.Command {
	c := p.command("import", "import an exported file into a workspace; no posts are published automatically")
	workspace := c.Flags().String("workspace", "", "`ID` of the workspace; optional if there is only one")
	from := c.Flags().String("from", "", "`file` written by 'dateline export' or the API")
	open := c.showProgress()
	return c.run(func(ctx context.Context, _ []string) error {
		line := open()
		parts, err := p.assembleRunning(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		if *from == "" {
			return errors.New("--from is required: dateline import --from FILE")
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
		owner, err := parts.store.Installation.Archive.OwnerOf(ctx, id)
		if err != nil {
			return err
		}
		into := archive.Target{
			Store: parts.store.Installation.Archive, Objects: parts.objects, Media: parts.media, Who: owner,
			Sites: &site.Service{Store: parts.store.Sites(), Sealer: parts.sealer},
			Audit: parts.store.Installation.Archive.AuditArchive,
			OnProgress: func(rows, total int) {
				line.Update("Importing", progress.State{Done: int64(rows), Total: int64(total), Unit: "rows"})
			},
		}
		if parts.crawl != nil {
			into.Seeds = parts.crawl.seeds
		}
		done, err := archive.Import(audit.With(ctx, audit.Origin{Actor: audit.Operator}),
			line.Reader(ctx, "Reading the file", in, sizeOf(in)), into)
		at := line.End()
		if err != nil {
			return canceled(ctx, err, "what was imported (%s) stays; run the command again to continue: nothing is "+
				"imported twice", at)
		}
		for _, s := range archive.Sections()[1:] {
			_, _ = fmt.Fprintf(p.Stdout, "%-10s %d\n", s, done.Added[s])
		}
		for _, left := range done.Skipped {
			_, _ = fmt.Fprintf(p.Stdout, "skipped: %s\n", left)
		}
		_, err = fmt.Fprintln(p.Stdout,
			"No posts are published automatically: connect the accounts, schedule the drafts and resume the series. "+
				"Sites have new keys.")
		return err
	})
}

func workspaceID(text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return id, fmt.Errorf("--workspace must be a UUID: %s", text)
	}
	return id, nil
}

// assembleRunning assembles the parts with the configured engines, or with those of a
// running `dateline up`.
func (p *Program) assembleRunning(ctx context.Context, c *command) (*parts, error) {
	cfg, log, err := c.settings()
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
	return assemble(ctx, cfg, log, nil, p.process(c.Name()))
}
