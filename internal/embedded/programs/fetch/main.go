// Command fetch fetches the engines that are not installed, while Dateline itself is compiled. With -target it fetches
// those of a release into a folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"dateline/internal/embedded/programs"
)

func main() {
	target := flag.String("target", "", "`platform` of a release, such as linux/arm64; empty: this machine's cache")
	out := flag.String("out", "", "`folder` for the programs of a release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	finder := programs.Finder{Progress: os.Stderr}
	var err error
	if *target == "" {
		err = fetch(ctx, finder)
	} else {
		system, arch, _ := strings.Cut(*target, "/")
		err = finder.Release(ctx, system, arch, *out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func fetch(ctx context.Context, finder programs.Finder) error {
	_, errRedis := finder.Redis(ctx, "")
	_, errTemporal := finder.Temporal(ctx)
	var errPostgres error
	if len(finder.InstalledPostgres(ctx, programs.OldestPostgres)) == 0 {
		_, errPostgres = finder.FetchPostgres(ctx, 0)
	}
	return errors.Join(errRedis, errTemporal, errPostgres)
}
