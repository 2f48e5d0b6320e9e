package score

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// maxPageBytes limits an uncompressed page.
const maxPageBytes = 32 << 20

// Page is a page of a dataset with its ground truth.
type Page struct {
	Key  string
	HTML []byte
	GroundTruth
}

// GroundTruth is the annotated content of a page; empty fields are not compared.
type GroundTruth struct {
	URL       string   `json:"url"`
	Type      string   `json:"type,omitempty"` // such as article or forum
	Body      string   `json:"articleBody"`
	With      []string `json:"with,omitempty"`    // strings that the text must contain
	Without   []string `json:"without,omitempty"` // strings that it must not contain
	Title     string   `json:"title,omitempty"`
	Authors   []string `json:"authors,omitempty"`
	Published string   `json:"published,omitempty"` // RFC 3339, or a day
	Sections  []string `json:"sections,omitempty"`  // acceptable sections
	Image     string   `json:"image,omitempty"`
}

// Half is a part of a dataset. The pages of a site are all in the same half.
type Half string

// Halves of a dataset.
const (
	Inspect Half = "inspect"  // rules are written and trained on these pages
	HeldOut Half = "held-out" // never examined: only their totals are
)

// Domain is the registrable domain of a page.
func (t GroundTruth) Domain() string {
	u, err := url.Parse(t.URL)
	if err != nil || u.Hostname() == "" {
		return t.URL
	}
	host := strings.ToLower(u.Hostname())
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}

// Half returns the half that a page belongs to, by a hash of its domain.
func (t GroundTruth) Half() Half {
	if sha256.Sum256([]byte(t.Domain()))[0]%2 == 0 {
		return Inspect
	}
	return HeldOut
}

// Files that mark a folder as a dataset. Each has its own format.
const (
	truthFile      = "ground-truth.json" // pages in html/<key>.html.gz
	goldFile       = "gold.json"         // strings by URL; pages next to it
	goldFilePacked = "gold.json.gz"      // bodies by key; pages next to it
)

// IsDataset reports whether a folder contains a dataset.
func IsDataset(dir string) bool {
	for _, name := range []string{truthFile, goldFile, goldFilePacked} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// LoadDataset loads a dataset: a folder with one of these files.
//
//   - ground-truth.json: an object of GroundTruth by key, and html/<key>.html.gz
//   - gold.json: an object of strings that must and must not be in the text, by URL
//   - gold.json.gz: an object of bodies and fields, by key or by file name
//
// Pages are sorted by key.
func LoadDataset(dir string) ([]Page, error) {
	truths, files, err := readTruths(dir)
	if err != nil {
		return nil, fmt.Errorf("read ground truth: %w", err)
	}
	pages := make([]Page, 0, len(truths))
	for key, truth := range truths {
		html, err := ReadPage(filepath.Join(dir, files(key)))
		if err != nil {
			return nil, err
		}
		pages = append(pages, Page{Key: key, HTML: html, GroundTruth: truth})
	}
	sort.Slice(pages, func(i, k int) bool { return pages[i].Key < pages[k].Key })
	return pages, nil
}

// readTruths returns the ground truth by key, and the path of the page of a key.
func readTruths(dir string) (map[string]GroundTruth, func(key string) string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, truthFile))
	if err == nil {
		truths := map[string]GroundTruth{}
		err = json.Unmarshal(raw, &truths)
		return truths, func(key string) string { return filepath.Join("html", filepath.Base(key)+".html.gz") }, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if raw, err = os.ReadFile(filepath.Join(dir, goldFile)); errors.Is(err, fs.ErrNotExist) {
		raw, err = ReadPage(filepath.Join(dir, goldFilePacked))
	}
	if err != nil {
		return nil, nil, err
	}
	gold := map[string]goldPage{}
	if err := json.Unmarshal(raw, &gold); err != nil {
		return nil, nil, err
	}
	truths := make(map[string]GroundTruth, len(gold))
	for key, g := range gold {
		truths[key] = g.truth(key)
	}
	return truths, func(key string) string {
		name := filepath.Base(key)
		if f := gold[key].File; f != "" {
			name = filepath.Base(f)
		}
		if !strings.HasSuffix(name, ".html.gz") {
			name += ".html.gz"
		}
		return name
	}, nil
}

// goldPage is a page in gold.json or gold.json.gz.
type goldPage struct {
	File       string    `json:"file"`
	URL        string    `json:"url"`
	Type       string    `json:"type"`
	Title      string    `json:"title"`
	Author     oneOrMore `json:"author"`
	Authors    oneOrMore `json:"authors"`
	Date       string    `json:"date"`
	Body       string    `json:"body"`
	With       []string  `json:"with"`
	Without    []string  `json:"without"`
	Categories []string  `json:"categories"`
}

func (g goldPage) truth(key string) GroundTruth {
	t := GroundTruth{
		URL: g.URL, Type: g.Type, Body: g.Body, With: g.With, Without: g.Without, Title: g.Title,
		Authors: g.Authors, Published: strings.Replace(g.Date, " ", "T", 1),
		Sections: slices.DeleteFunc(g.Categories, func(s string) bool { return s == "" }),
	}
	if t.URL == "" {
		t.URL = key
	}
	if t.Type == "" && g.Body != "" {
		t.Type = "article"
	}
	t.Authors = append(t.Authors, g.Author...)
	return t
}

// oneOrMore is a string or a list of strings.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if one != "" {
			*o = oneOrMore{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// ReadPage reads a gzipped page.
func ReadPage(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open page: %w", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	html, err := io.ReadAll(io.LimitReader(z, maxPageBytes))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	return html, nil
}
