package e2e

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dateline/internal/testing/e2etest"
)

// The scripts run the commands for a running instance against the real program.
func TestCLI_Scripts(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	d.start()
	d.ready()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/cli",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("API", d.API)
			e.Setenv("PROFILES", filepath.Join(e.WorkDir, "config", "profiles.json"))
			e.Setenv("DATELINE_PROFILES", filepath.Join(e.WorkDir, "config", "profiles.json"))
			if err := os.WriteFile(filepath.Join(e.WorkDir, "token.txt"), []byte(d.Token+"\n"), 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "photo.png"), whiteSquare(t), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// capture NAME PATTERN sets a variable to the first group of the last output.
			"capture": func(ts *testscript.TestScript, _ bool, args []string) {
				found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
				if found == nil {
					ts.Fatalf("the output does not match %s", args[1])
				}
				ts.Setenv(args[0], found[1])
			},
			// status N PROGRAM ARGS… runs a program and checks its exit status.
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					exit := (*exec.ExitError)(nil)
					if !errors.As(err, &exit) {
						ts.Fatalf("%v", err)
					}
					got = exit.ExitCode()
				}
				if got != want {
					ts.Fatalf("status %d, want %d", got, want)
				}
			},
		},
	})
}

// `dateline watch` prints the events of the workspace as they happen.
func TestCLI_WatchPrintsEvents(t *testing.T) {
	t.Parallel()
	d := newDateline(t)
	d.start()
	d.ready()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env := append(d.env, "DATELINE_URL="+d.API, "DATELINE_TOKEN="+d.Token)
	var output e2etest.Buffer
	watch := exec.CommandContext(ctx, path, "watch", "--json")
	watch.Env, watch.Stdout, watch.Stderr = env, &output, &output
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	e2etest.Eventually(t, 2*time.Minute, "watch to print the event of a new post", func() bool {
		post := exec.CommandContext(ctx, path, "post", "Watched", "--at", "in 2 hours")
		post.Env = env
		if out, err := post.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.Contains(output.String(), `"type":"created"`)
	})
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("after an interrupt: %v, want status 0: %s", err, output.String())
	}
}

func whiteSquare(t *testing.T) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = 0xff
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
