package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"dateline/internal/cli/progress"
	"dateline/internal/embedded"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/ops/backup"
	"dateline/internal/storage/objects"
)

// backup writes a backup of the database and, optionally, of the bucket and the keyset.
func (p *Program) backup() *cobra.Command {
	c := p.command("backup", "back up the database to a file, without downtime")
	out := c.Flags().StringP("output", "o", "",
		"output `file`; - for standard output (default: dateline-<time>.backup)")
	which := c.Flags().String("objects", backup.NoObjects,
		"`objects` to include: none, media, or all (with crawled pages)")
	passphrase := c.Flags().String("passphrase-file", "",
		"`file` with a passphrase; includes the keyset, encrypted with it")
	open := c.showProgress()
	return c.run(func(ctx context.Context, _ []string) error {
		cfg, _, err := c.settings()
		if err != nil {
			return err
		}
		if *which != backup.NoObjects && *which != backup.MediaObjects && *which != backup.AllObjects {
			return fmt.Errorf("--objects %s: must be none, media or all", *which)
		}
		source := backup.Source{Database: cfg.DatabaseURL, Version: p.Version, Objects: *which}
		if source.Database == "" {
			if source.Database, err = embedded.RunningDatabase(cfg.DataDir); err != nil {
				return err
			}
		}
		raw, ids, err := secret.Export(ctx, keysetSource(cfg))
		if err != nil {
			return err
		}
		source.KeyIDs = ids
		if *passphrase != "" {
			if source.Passphrase, err = readPassphrase(*passphrase); err != nil {
				return err
			}
			source.Keyset = raw
		}
		if *which != backup.NoObjects {
			if source.Bucket, err = runningBucket(ctx, cfg); err != nil {
				return err
			}
		}
		line := open()
		source.OnProgress = reportBackup(line)
		if *out == "-" {
			m, end, err := backup.Write(ctx, p.Stdout, source)
			at := line.End()
			if err == nil {
				p.printBackup("standard output", m, end, cfg)
			}
			return canceled(ctx, err, "the backup on standard output is incomplete (%s); discard it and run the "+
				"command again", at)
		}
		path := *out
		if path == "" {
			path = "dateline-" + time.Now().UTC().Format("20060102-150405") + ".backup"
		}
		m, end, err := writeBackup(ctx, path, source, line)
		at := line.End()
		if err != nil {
			return canceled(ctx, err, "no file was written (%s); run the command again", at)
		}
		p.printBackup(path, m, end, cfg)
		return nil
	})
}

// reportBackup returns the function that shows the progress of a backup; nil: none is shown.
func reportBackup(line *progress.Line) backup.Progress {
	if line == nil {
		return nil
	}
	return func(part backup.Part, done, total int64) {
		line.Update("Backing up "+string(part), progress.State{Done: done, Total: total, Unit: string(part)})
	}
}

// writeBackup writes the backup to a temporary file, verifies it, and then renames it.
func writeBackup(
	ctx context.Context, path string, source backup.Source, line *progress.Line,
) (m backup.Manifest, end backup.End, err error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return m, end, fmt.Errorf("%s already exists", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600, see os.CreateTemp
	if err != nil {
		return m, end, err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if m, end, err = backup.Write(ctx, f, source); err != nil {
		return m, end, err
	}
	if err := f.Sync(); err != nil {
		return m, end, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return m, end, err
	}
	archive, err := backup.Open(line.Reader(ctx, "Verifying the file", f, sizeOf(f)))
	if err != nil {
		return m, end, err
	}
	defer archive.Close()
	if _, err := archive.Verify(); err != nil {
		return m, end, err
	}
	return m, end, os.Link(f.Name(), path)
}

func (p *Program) printBackup(where string, m backup.Manifest, end backup.End, cfg *config.Config) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(p.Stderr, format+"\n", args...) }
	var rows int64
	for _, c := range end.Tables {
		rows += c.Rows
	}
	say("Backup written to %s: %d rows of %d tables, as of %s.", where, rows, len(m.Tables),
		m.TakenAt.Format(time.RFC3339))
	switch {
	case m.Objects == backup.NoObjects:
		say("It contains no objects. Back up the bucket %s separately, or use --objects.", cfg.S3Bucket)
	case end.Missing > 0:
		say("It contains %d objects; %d referenced objects are missing in the bucket.", end.Objects, end.Missing)
	default:
		say("It contains %d objects.", end.Objects)
	}
	switch {
	case m.Keyset:
		say("It contains the keyset, encrypted with the passphrase. Store the passphrase elsewhere.")
	case cfg.KeysetJSON != "":
		say("It does NOT contain the keyset: back up DATELINE_KEYSET_JSON separately. Without the keyset, all " +
			"accounts must be reconnected.")
	default:
		say("It does NOT contain the keyset: back up %s separately. Without the keyset, all accounts must be "+
			"reconnected.", cfg.Keyset)
	}
}

// readPassphrase returns the first line of a file.
func readPassphrase(path string) (secret.Text, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return secret.Text{}, err
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return secret.NewText(string(bytes.TrimRight(line, "\r"))), nil
}

// runningBucket opens the configured bucket, or that of a running `dateline up`.
func runningBucket(ctx context.Context, cfg *config.Config) (*objects.Bucket, error) {
	if cfg.S3Endpoint == "" {
		at, err := embedded.RunningEngines(cfg.DataDir)
		if err != nil {
			return nil, err
		}
		cfg = at.Apply(cfg)
	}
	return openBucket(ctx, cfg)
}

func openBucket(ctx context.Context, cfg *config.Config) (*objects.Bucket, error) {
	return objects.Open(ctx, objects.Options{
		Endpoint: cfg.S3Endpoint, PublicEndpoint: cfg.S3PublicEndpoint,
		Region: cfg.S3Region, Bucket: cfg.S3Bucket,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle,
	})
}
