package bluesky_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dateline/platforms/bluesky"
)

// devenv is the network's own server (npm: @atproto/dev-env), running.
type devenv struct {
	PDS     string // the accounts' server
	PLC     string // the directory of identities
	Library string // what the network's own library says of texts
}

// startDevenv runs the server for one test. Where it cannot be had, that is
// said in a line and the test is over; with CI=true it fails.
func startDevenv(t *testing.T) (devenv, bool) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed: Bluesky's own server cannot be started", program)
			}
			t.Logf("%s is not installed: Bluesky's own server is not tested.", program)
			return devenv{}, false
		}
	}
	dir, err := installDevenv(t)
	if err != nil {
		t.Fatal(err)
	}
	var said devenv
	script, err := os.ReadFile(filepath.Join("testdata", "devenv", "serve.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("node", "--input-type=module", "--eval", string(script))
	server.Dir = dir // where its packages are
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
		_ = stdin.Close() // which tells it to stop
		reader.Wait()
		if err := server.Wait(); err != nil {
			t.Errorf("Bluesky's own server: %v: %s", err, problems.Bytes())
		}
	})
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if ready, ok := strings.CutPrefix(lines.Text(), "READY "); ok {
			if err := json.Unmarshal([]byte(ready), &said); err != nil {
				t.Fatal(err)
			}
			reader.Add(1)
			go func() {
				defer reader.Done()
				_, _ = io.Copy(io.Discard, stdout)
			}()
			return said, true
		}
	}
	t.Fatalf("Bluesky's own server did not start: %s", problems.Bytes())
	return devenv{}, false
}

// installDevenv installs the server once per machine and lock file, outside the
// repository, and gives its directory.
func installDevenv(t *testing.T) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask node for its version: %w", err)
	}
	files := []string{".npmrc", "package.json", "package-lock.json"}
	sum := sha256.New()
	_, _ = sum.Write(version) // what is compiled fits one version
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", "devenv", name))
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(data)
	}
	root := filepath.Join(cache, "dateline-test")
	dir := filepath.Join(root, "atproto-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("wait for the lock of %s: %w", dir, err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	t.Log("Installing Bluesky's own server, once.")
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil { // of an installation that was cut
		return "", err
	}
	if err := os.MkdirAll(fresh, 0o755); err != nil {
		return "", err
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", "devenv", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(fresh, name), data, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	// Of all packages one has a part that must be fetched or compiled.
	for _, args := range [][]string{{"ci", "--ignore-scripts"}, {"rebuild", "better-sqlite3"}} {
		npm := exec.Command("npm", args...)
		npm.Dir = fresh
		npm.ExtraFiles = []*os.File{lock} // held until npm is done, should this process end before it
		if said, err := npm.CombinedOutput(); err != nil {
			return "", fmt.Errorf("npm %s: %w: %s", strings.Join(args, " "), err, said)
		}
	}
	return dir, os.Rename(fresh, dir)
}

// mainPassword is the account's own, which Dateline does not take.
const mainPassword = "main-1234-word"

// person makes an account with an app password, by plain calls.
func (d devenv) person(t *testing.T, name string) (handle, did, appPassword string) {
	t.Helper()
	handle = name + ".test"
	var made struct{ DID, AccessJWT string }
	d.post(t, "com.atproto.server.createAccount", "", map[string]string{
		"handle": handle, "email": name + "@news.example", "password": mainPassword}, &made)
	var password struct{ Password string }
	d.post(t, "com.atproto.server.createAppPassword", made.AccessJWT, map[string]string{"name": "dateline"}, &password)
	return handle, made.DID, password.Password
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
	// The example addresses of the suite are not fetched for cards.
	return bluesky.Options{Entryway: d.PDS, Directory: d.PLC, VideoDirect: true, NoCards: true}
}
