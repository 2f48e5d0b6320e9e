// Command release builds the files of a release: for each platform an archive with
// dateline, Temporal, Valkey and PostgreSQL, so that the first start compiles and downloads
// nothing; for Linux also a .deb and an .rpm package; a software bill of materials of
// each; and their checksums. Two builds of a commit give equal files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context, args []string) error {
	var r release
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.StringVar(&r.version, "version", "", "`version`, such as 0.1.0")
	set.StringVar(&r.commit, "commit", "", "`commit` of the source")
	set.StringVar(&r.source, "source", "", "`address` of the source files, for links of the documentation")
	date := set.String("date", "", "`time` of the commit, such as 2026-12-24T18:00:00Z; the time of all files")
	set.StringVar(&r.out, "out", "dist", "output `folder`")
	set.StringVar(&r.cache, "cache", ".tools/postgres", "`folder` for downloaded PostgreSQL programs")
	set.StringVar(&r.nfpm, "nfpm", "", "nfpm `program`; empty: no packages")
	targets := set.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "`platforms`")
	if err := set.Parse(args); err != nil {
		return err
	}
	var err error
	if r.time, err = time.Parse(time.RFC3339, *date); err != nil {
		return errors.New("-date must be a time such as 2026-12-24T18:00:00Z")
	}
	if r.version == "" {
		return errors.New("-version must be set")
	}
	for _, t := range strings.Split(*targets, ",") {
		system, arch, _ := strings.Cut(t, "/")
		r.targets = append(r.targets, target{os: system, arch: arch})
	}
	return r.build(ctx)
}
