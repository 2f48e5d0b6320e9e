// Command baseline extracts articles with go-trafilatura for package eval. It is a module of its own, so that nobody
// who builds Dateline needs what only a comparison needs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	trafilatura "github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

// page, extracted and result have the form of eval.Baseline's requests and responses.
type page struct {
	HTML []byte `json:"html"`
	URL  string `json:"url"`
}

type extracted struct {
	Text, Title, Section, Image string
	Authors                     []string
	Published                   time.Time
	DateOnly                    bool
}

type result struct {
	Pages []extracted   `json:"pages"`
	CPU   time.Duration `json:"cpu"` // of the pages
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("baseline: ")
	if err := serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until in ends.
func serve(in io.Reader, out io.Writer) error {
	read, send := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var pages []page
		if err := read.Decode(&pages); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		runtime.GC()
		start := cpuTime()
		r := result{Pages: make([]extracted, len(pages))}
		for i, p := range pages {
			r.Pages[i] = extract(p)
		}
		r.CPU = cpuTime() - start
		if err := send.Encode(r); err != nil {
			return err
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func extract(p page) extracted {
	doc, err := html.Parse(bytes.NewReader(p.HTML))
	if err != nil {
		return extracted{}
	}
	from, _ := url.Parse(p.URL)
	r, err := trafilatura.ExtractDocument(doc, trafilatura.Options{EnableFallback: true, OriginalURL: from})
	if err != nil || r == nil {
		return extracted{}
	}
	m := r.Metadata
	section := ""
	if len(m.Categories) > 0 {
		section = m.Categories[0]
	}
	return extracted{
		Text: r.ContentText, Title: m.Title, Section: section, Image: m.Image,
		Authors: strings.Split(m.Author, "; "), Published: m.Date, DateOnly: true,
	}
}
