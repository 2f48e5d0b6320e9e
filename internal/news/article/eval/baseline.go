package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"dateline/internal/news/article/score"
)

// Baseline is go-trafilatura in a process of its own (package baseline below this one),
// compared with Dateline in the same run.
type Baseline struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	send *json.Encoder
	read *json.Decoder
	log  bytes.Buffer // what it and `go run` print
}

type baselinePage struct {
	HTML []byte `json:"html"`
	URL  string `json:"url"`
}

type baselineResult struct {
	Pages []Extracted   `json:"pages"`
	CPU   time.Duration `json:"cpu"` // CPU time of the pages
}

// StartBaseline builds the baseline from the checkout that contains the working directory
// or the program, and starts it. The caller closes it.
func StartBaseline(ctx context.Context) (*Baseline, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	b := &Baseline{cmd: exec.CommandContext(ctx, "go", "run", ".")}
	b.cmd.Dir = filepath.Join(root, "internal", "news", "article", "eval", "baseline") // a module of its own
	// The flags of the Makefile, so that few packages are compiled again.
	b.cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0",
		"GOFLAGS=-trimpath -buildvcs=false -tags=nomsgpack -gcflags=all=-dwarf=false")
	b.cmd.Stderr = &b.log
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.send, b.read = json.NewEncoder(b.in), json.NewDecoder(out)
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("build go-trafilatura with Go, or leave it out with --baseline=false: %w", err)
	}
	return b, nil
}

// checkout returns the folder of Dateline's source.
func checkout() (string, error) {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if path, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(path))
	}
	for _, dir := range starts {
		for ; ; dir = filepath.Dir(dir) {
			mod, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // the folders above the program
			if err == nil && bytes.HasPrefix(mod, []byte("module dateline\n")) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("go-trafilatura is built from a checkout of Dateline: run this in one, or leave it out " +
		"with --baseline=false")
}

// Extract extracts pages and returns the CPU time that it took.
func (b *Baseline) Extract(pages []score.Page) ([]Extracted, time.Duration, error) {
	request := make([]baselinePage, len(pages))
	for i, p := range pages {
		request[i] = baselinePage{HTML: p.HTML, URL: p.URL}
	}
	var r baselineResult
	err := b.send.Encode(request)
	if err == nil {
		err = b.read.Decode(&r)
	}
	if err == nil && len(r.Pages) != len(pages) {
		err = fmt.Errorf("%d results for %d pages", len(r.Pages), len(pages))
	}
	if err != nil {
		return nil, 0, fmt.Errorf("go-trafilatura: %w", errors.Join(err, b.Close()))
	}
	return r.Pages, r.CPU, nil
}

// Close ends the process.
func (b *Baseline) Close() error {
	err := errors.Join(b.in.Close(), b.cmd.Wait())
	if err != nil {
		return fmt.Errorf("%w\n%s", err, b.log.String())
	}
	return nil
}
