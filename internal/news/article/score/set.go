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
	Body      string   `json:"articleBody"`
	Title     string   `json:"title,omitempty"`
	Authors   []string `json:"authors,omitempty"`
	Published string   `json:"published,omitempty"` // RFC 3339
}

// LoadDataset loads a dataset: a folder with ground-truth.json, an object of GroundTruth
// by key, and html/<key>.html.gz. Pages are sorted by key.
func LoadDataset(dir string) ([]Page, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "ground-truth.json"))
	if err != nil {
		return nil, fmt.Errorf("read ground truth: %w", err)
	}
	truths := map[string]GroundTruth{}
	if err := json.Unmarshal(raw, &truths); err != nil {
		return nil, fmt.Errorf("read ground truth: %w", err)
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
