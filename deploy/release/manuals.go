package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"dateline/internal/cli"
)

// writeManuals writes man pages and shell completions below dir.
func writeManuals(dir, version string, date time.Time) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil { //nolint:gosec // installed files are readable by everyone
		return err
	}
	root := (&cli.Program{Version: version}).Root()
	root.DisableAutoGenTag = true
	return errors.Join(
		doc.GenManTree(root, &doc.GenManHeader{
			Title: "DATELINE", Section: "1", Source: "Dateline " + version,
			Manual: "Dateline", Date: &date,
		}, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "dateline.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_dateline")),
		root.GenFishCompletionFile(filepath.Join(completions, "dateline.fish"), true),
	)
}
