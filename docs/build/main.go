// Command build writes the documentation as static pages.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"dateline/docs"
)

func main() {
	out := flag.String("o", "dist/docs", "folder to write to")
	base := flag.String("base", "/docs/", "path of the site's root")
	version := flag.String("version", "dev", "version to show")
	source := flag.String("source", "",
		"address of the source files, such as https://git.example/dateline/blob/v0.1.0; empty: no links to them")
	flag.Parse()
	site, err := docs.Build(docs.Options{Base: *base, Version: *version, Source: *source})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range docs.Names(site) {
		file := filepath.Join(*out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // public pages
			log.Fatal(err)
		}
		if err := os.WriteFile(file, site[name], 0o644); err != nil { //nolint:gosec // public pages
			log.Fatal(err)
		}
	}
	log.Printf("%d files in %s", len(site), *out)
}
