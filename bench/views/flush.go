package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// flushing measures a flush of 100,000 posts with BenchmarkFlush of
// internal/audience/flush, which starts its own engines.
func flushing(ctx context.Context, out io.Writer, _ options, r *report) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./internal/audience/flush", "-run", "^$", "-bench",
		"^BenchmarkFlush$", "-benchtime", "1x", "-count", "1")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	_, line, found := bytes.Cut(text, []byte("BenchmarkFlush"))
	var name string
	var n, ns float64
	if _, err := fmt.Sscan(string(line), &name, &n, &ns); !found || err != nil {
		return fmt.Errorf("parse the output of the benchmark: %w\n%s", err, text)
	}
	r.Flush100kS = ns / 1e9
	_, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte("ns/op"))
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	fmt.Fprintf(out, "a flush of 100,000 posts to Postgres: %.2f s (two at a time: %s)\n", r.Flush100kS,
		bytes.Join(bytes.Fields(rest), []byte(" ")))
	return nil
}
