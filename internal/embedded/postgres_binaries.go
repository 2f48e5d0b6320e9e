package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dateline/internal/embedded/programs"
)

// findPostgres returns an installation of the major version of the cluster, or of any supported
// one if there is no cluster yet. Without one on the machine, it is downloaded once.
func (h *Host) findPostgres(ctx context.Context, finder programs.Finder) (programs.Postgres, error) {
	major, err := clusterMajor(h.path("postgres"))
	if err != nil {
		return programs.Postgres{}, err
	}
	installed := finder.InstalledPostgres(ctx, programs.OldestPostgres)
	for _, p := range installed {
		if os.Geteuid() == 0 && !othersCanRun(filepath.Join(p.Dir, "postgres")) {
			continue // the server runs as nobody
		}
		if major == 0 || p.Major == major {
			return p, nil
		}
	}
	missing := fmt.Sprintf("the data in %s belongs to PostgreSQL %d, which is not installed (found: %s)",
		h.path("postgres"), major, describe(installed))
	remedy := fmt.Sprintf("Install PostgreSQL %d, or set DATELINE_DATA_DIR to another directory", major)
	if !programs.HasPostgres(major) {
		return programs.Postgres{}, fmt.Errorf("%s; it was not modified. %s", missing, remedy)
	}
	p, err := finder.FetchPostgres(ctx, major)
	switch {
	case err == nil:
		return p, nil
	case major == 0:
		return p, fmt.Errorf("PostgreSQL is not installed, and downloading it failed; install PostgreSQL %d or "+
			"newer, or set DATABASE_URL: %w", programs.OldestPostgres, err)
	default:
		return p, fmt.Errorf("%s, and downloading it failed; it was not modified. %s: %w", missing, remedy, err)
	}
}

func describe(installed []programs.Postgres) string {
	if len(installed) == 0 {
		return "none"
	}
	var parts []string
	for _, p := range installed {
		parts = append(parts, fmt.Sprintf("%d in %s", p.Major, p.Dir))
	}
	return strings.Join(parts, ", ")
}
