package score

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
)

// maxPageBytes bounds what one page of a set may unpack to.
const maxPageBytes = 32 << 20

// Page is one page of a set with what is true of it.
type Page struct {
	Key  string
	HTML []byte
	GroundTruth
}

// GroundTruth is what people wrote down of a page; empty fields are not compared.
type GroundTruth struct {
	URL       string   `json:"url"`
	Body      string   `json:"articleBody"`
	Title     string   `json:"title,omitempty"`
	Authors   []string `json:"authors,omitempty"`
	Published string   `json:"published,omitempty"` // RFC 3339
}

// LoadDataset reads a set: a folder with ground-truth.json, an object of Truth by key, and
// html/<key>.html.gz. Pages come in the order of their keys.
func LoadDataset(dir string) ([]Page, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "ground-truth.json"))
	if err != nil {
		return nil, fmt.Errorf("read the truth of a set: %w", err)
	}
	truths := map[string]GroundTruth{}
	if err := json.Unmarshal(raw, &truths); err != nil {
		return nil, fmt.Errorf("read the truth of a set: %w", err)
	}
	pages := make([]Page, 0, len(truths))
	for key, truth := range truths {
		html, err := ReadPage(filepath.Join(dir, "html", filepath.Base(key)+".html.gz"))
		if err != nil {
			return nil, err
		}
		pages = append(pages, Page{Key: key, HTML: html, GroundTruth: truth})
	}
	sort.Slice(pages, func(i, k int) bool { return pages[i].Key < pages[k].Key })
	return pages, nil
}

// ReadPage reads one gzipped page.
func ReadPage(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a page of a set: %w", err)
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
