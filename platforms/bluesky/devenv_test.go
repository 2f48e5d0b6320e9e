package bluesky_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dateline/internal/testing/enginetest"
	"dateline/platforms/bluesky"
)

// devenv is the network's own server (npm: @atproto/dev-env), running.
type devenv struct {
	PDS     string // the accounts' server
	PLC     string // the directory of DIDs
	Library string // results of the network's own library for texts
}

// startDevenv runs the server for one test.
func startDevenv(t *testing.T) devenv {
	t.Helper()
	dir := enginetest.Packages(t, filepath.Join("testdata", "devenv"), "better-sqlite3")
	var reported devenv
	script, err := os.ReadFile(filepath.Join("testdata", "devenv", "serve.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("node", "--input-type=module", "--eval", string(script))
	server.Dir = dir // directory of its packages
	server.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "LOG_ENABLED=false")
	var problems bytes.Buffer
	server.Stderr = &problems
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var reader sync.WaitGroup
	t.Cleanup(func() {
		_ = stdin.Close() // stops it
		reader.Wait()
		if err := server.Wait(); err != nil {
			t.Errorf("Bluesky's own server: %v: %s", err, problems.Bytes())
		}
	})
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if ready, ok := strings.CutPrefix(lines.Text(), "READY "); ok {
			if err := json.Unmarshal([]byte(ready), &reported); err != nil {
				t.Fatal(err)
			}
			reader.Add(1)
			go func() {
				defer reader.Done()
				_, _ = io.Copy(io.Discard, stdout)
			}()
			return reported
		}
	}
	t.Fatalf("Bluesky's own server did not start: %s", problems.Bytes())
	return devenv{}
}

// mainPassword is the account's main password, which Dateline does not accept.
const mainPassword = "main-1234-word"

// person creates an account with an app password, with plain calls.
func (d devenv) person(t *testing.T, name string) (handle, did, appPassword string) {
	t.Helper()
	handle = name + ".test"
	var created struct{ DID, AccessJWT string }
	d.post(t, "com.atproto.server.createAccount", "", map[string]string{
		"handle": handle, "email": name + "@news.example", "password": mainPassword,
	}, &created)
	var password struct{ Password string }
	d.post(t, "com.atproto.server.createAppPassword", created.AccessJWT, map[string]string{"name": "dateline"},
		&password)
	return handle, created.DID, password.Password
}

func (d devenv) post(t *testing.T, method, token string, in, into any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.PDS+"/xrpc/"+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if status := decode(t, res, into); status != http.StatusOK {
		t.Fatalf("%s: status %d: %+v", method, status, into)
	}
}

func (d devenv) options() bluesky.Options {
	// The suite's example addresses are not fetched for cards.
	return bluesky.Options{Entryway: d.PDS, Directory: d.PLC, VideoDirect: true, DisableLinkCard: true}
}
