package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	version := flag.String("version", "dev", "`version` of the program")
	lock := flag.String("lock", "", "package-lock.json of the dashboard")
	flag.Parse()
	d, err := describe(*version, flag.Args(), *lock)
	if err == nil {
		err = write(os.Stdout, d)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}
