// Command baseline extracts articles with go-trafilatura, as package eval asks for. It is
// a program of its own, because the tables of go-trafilatura's date parser would take
// part of every start of the program that contains them.
package main

import (
	"bytes"
	"log"
	"net/url"
	"os"
	"strings"

	trafilatura "github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"dateline/internal/news/article/eval"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("baseline: ")
	if err := eval.ServeBaseline(os.Stdin, os.Stdout, extract); err != nil {
		log.Fatal(err)
	}
}

func extract(page []byte, address string) eval.Extracted {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return eval.Extracted{}
	}
	from, _ := url.Parse(address)
	r, err := trafilatura.ExtractDocument(doc, trafilatura.Options{EnableFallback: true, OriginalURL: from})
	if err != nil || r == nil {
		return eval.Extracted{}
	}
	m := r.Metadata
	section := ""
	if len(m.Categories) > 0 {
		section = m.Categories[0]
	}
	return eval.Extracted{
		Text: r.ContentText, Title: m.Title, Section: section, Image: m.Image,
		Authors: strings.Split(m.Author, "; "), Published: m.Date, DateOnly: true,
	}
}
