package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// overhead measures counting with site totals and heartbeats next to counting
// without them, with TestBenchOverhead of internal/audience/counter.
func overhead(ctx context.Context, out io.Writer, o options, r *report) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./internal/audience/counter", "-run", "^TestBenchOverhead$",
		"-count", "1", "-v", "-overhead-bench", strconv.Itoa(3*o.runs)) //nolint:gosec // a number
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("{")):
			if err := json.Unmarshal(line, r); err != nil {
				return fmt.Errorf("parse the output of the benchmark: %w\n%s", err, line)
			}
		case bytes.HasPrefix(line, []byte("overhead_bench_test.go:")):
			_, line, _ = bytes.Cut(line, []byte(": "))
			fmt.Fprintf(out, "%s\n", line)
		}
	}
	if r.OverheadAllCPU == 0 {
		return fmt.Errorf("the benchmark has no result:\n%s", text)
	}
	fmt.Fprintf(out, "counting with site totals and heartbeats costs %.2f × the processor time of counting views "+
		"alone, and takes %.2f × as long; heartbeats alone add %.0f %%\n",
		r.OverheadAllCPU, r.OverheadAllWall, 100*(r.OverheadHeartbeatsCPU-1))
	return nil
}
