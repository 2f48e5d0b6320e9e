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

	"dateline/internal/embedded"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/ops/backup"
	"dateline/internal/storage/objects"
)

// backup writes an archive of everything that is kept in the database, while
// all goes on.
func (p *Program) backup(ctx context.Context, args []string) error {
	set, file := p.flags("backup")
	out := set.String("o", "", "`file` to write; - for standard output (default dateline-<time>.backup)")
	which := set.String("objects", backup.NoObjects, "`files` of the bucket to put in: none, media, or all with crawled pages")
	passphrase := set.String("passphrase-file", "", "`file` with a passphrase that the keyset is sealed with; without it, the keyset is not in the backup")
	cfg, _, err := p.settingsWith(set, file, args)
	if err != nil {
		return err
	}
	if *which != backup.NoObjects && *which != backup.MediaObjects && *which != backup.AllObjects {
		return fmt.Errorf("--objects %s: none, media or all", *which)
	}
	source := backup.Source{Database: cfg.DatabaseURL, Version: p.Version, Objects: *which}
	if source.Database == "" {
		if source.Database, err = embedded.RunningDatabase(cfg.DataDir); err != nil {
			return err
		}
	}
	raw, ids, err := secret.Export(ctx, keysetOf(cfg))
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
	if *out == "-" {
		m, end, err := backup.Write(ctx, p.Stdout, source)
		if err == nil {
			p.tellBackup("standard output", m, end, cfg)
		}
		return err
	}
	path := *out
	if path == "" {
		path = "dateline-" + time.Now().UTC().Format("20060102-150405") + ".backup"
	}
	m, end, err := writeBackup(ctx, path, source)
	if err != nil {
		return err
	}
	p.tellBackup(path, m, end, cfg)
	return nil
}

// writeBackup writes the archive beside its place, reads it back, and only then
// gives it its name.
func writeBackup(ctx context.Context, path string, source backup.Source) (m backup.Manifest, end backup.End, err error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return m, end, fmt.Errorf("%s is there already", path)
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
	archive, err := backup.Open(f)
	if err != nil {
		return m, end, err
	}
	defer archive.Close()
	if _, err := archive.Verify(); err != nil {
		return m, end, err
	}
	return m, end, os.Link(f.Name(), path)
}

func (p *Program) tellBackup(where string, m backup.Manifest, end backup.End, cfg *config.Config) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(p.Stderr, format+"\n", args...) }
	var rows int64
	for _, c := range end.Tables {
		rows += c.Rows
	}
	say("Backed up to %s: %d rows of %d tables, as of %s.", where, rows, len(m.Tables), m.TakenAt.Format(time.RFC3339))
	switch {
	case m.Objects == backup.NoObjects:
		say("Files are not in it, only where they lie (bucket %s); copy the bucket by its own means, or use --objects.", cfg.S3Bucket)
	case end.Missing > 0:
		say("%d files are in it; %d that rows name are not in the bucket.", end.Objects, end.Missing)
	default:
		say("%d files are in it.", end.Objects)
	}
	switch {
	case m.Keyset:
		say("The keyset is in it, sealed with the passphrase. Keep the passphrase elsewhere.")
	case cfg.KeysetJSON != "":
		say("The keyset is NOT in it: keep a copy of DATELINE_KEYSET_JSON elsewhere. Without it every account has to be connected again.")
	default:
		say("The keyset is NOT in it: keep a copy of %s elsewhere. Without it every account has to be connected again.", cfg.Keyset)
	}
}

// readPassphrase takes the first line of a file.
func readPassphrase(path string) (secret.Text, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return secret.Text{}, err
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return secret.NewText(string(bytes.TrimRight(line, "\r"))), nil
}

// runningBucket opens the object store that the settings name, or that of a
// `dateline up` beside.
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
	return objects.Open(ctx, objects.Options{Endpoint: cfg.S3Endpoint, PublicEndpoint: cfg.S3PublicEndpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: cfg.S3PathStyle})
}
