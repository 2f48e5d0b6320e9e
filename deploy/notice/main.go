// Command notice writes NOTICE: the license of every module and package that the
// programs, their tests and the dashboard are built from. It fails when a license
// is unknown or may not be combined with Apache-2.0.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	lock := flag.String("lock", "web/package-lock.json", "`file` with the packages of the dashboard")
	modules := flag.String("modules", ".,deploy/check,e2e/crawl/colly,internal/news/article/eval/baseline",
		"`directories` of Go modules, separated by commas")
	flag.Parse()
	if err := run(strings.Split(*modules, ","), *lock); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

func run(dirs []string, lock string) error {
	deps, err := goModules(dirs)
	if err != nil {
		return err
	}
	packages, err := npmPackages(lock)
	if err != nil {
		return err
	}
	deps = append(deps, packages...)
	if err := check(deps); err != nil {
		return err
	}
	return write(os.Stdout, deps)
}
