package enginetest

import (
	"context"
	"fmt"

	"dateline/internal/embedded/programs"
)

// postgresPrograms finds the directory with initdb and postgres, on this machine or by a download into the cache.
func postgresPrograms(ctx context.Context) (string, error) {
	var finder programs.Finder
	if installed := finder.InstalledPostgres(ctx, programs.OldestPostgres); len(installed) > 0 {
		return installed[0].Dir, nil
	}
	p, err := finder.FetchPostgres(ctx, 0)
	if err != nil {
		return "", fmt.Errorf("no Postgres: install it (on Debian: apt-get install postgresql), or set "+
			"TEST_DATABASE_URL; downloading it failed: %w", err)
	}
	return p.Dir, nil
}
