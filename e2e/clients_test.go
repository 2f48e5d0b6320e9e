package e2e

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

var generateClients = flag.Bool("clients", false, "generate clients from openapi.yaml and schedule posts with them")

// openAPIGenerator is the package on PyPI that contains the jar.
const openAPIGenerator = "openapi-generator-cli==7.26.0"

// generatedClient is a client that OpenAPI Generator generates.
type generatedClient struct {
	generator string
	needs     string // its compiler
	options   string
	program   string // of testdata/clients
	as        string // its path in the generated folder
	compile   string // a command of the shell there
	run       string
}

// Generated clients compile, and schedule a post that is published once.
func TestGeneratedClients(t *testing.T) {
	if !*generateClients {
		t.Skip("make bench/clients runs this test")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("java is not installed")
	}
	tools := t.TempDir()
	shell(t, tools, nil, "python3 -m venv . && bin/pip install --quiet "+openAPIGenerator)
	jars, err := filepath.Glob(filepath.Join(tools, "lib/*/site-packages/openapi_generator_cli/openapi-generator.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("the generator's jar: %v %v", jars, err)
	}
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	for _, c := range []generatedClient{
		{
			generator: "python", needs: "python3", program: "schedule.py", as: "schedule.py",
			compile: "python3 -m venv env && env/bin/pip install --quiet . && " +
				"env/bin/python -W error -c 'from openapi_client.models import *'",
			run: "env/bin/python -W error schedule.py",
		},
		{
			generator: "go", needs: "go", program: "schedule.go.txt", as: "schedule/main.go",
			compile: "go mod edit -module example.org/dateline && go vet . ./schedule",
			run:     "go run ./schedule",
		},
		{
			generator: "typescript-fetch", needs: "npm", options: "npmName=dateline",
			program: "schedule.ts", as: "src/schedule.ts",
			compile: "npm install --silent --no-audit --no-fund", run: "node dist/schedule.js",
		},
		{
			generator: "rust", needs: "cargo", program: "schedule.rs", as: "src/bin/schedule.rs",
			compile: "cargo add --quiet tokio --features rt,macros && cargo build --quiet",
			run:     "cargo run --quiet --bin schedule",
		},
	} {
		t.Run(c.generator, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(c.needs + " is not installed")
			}
			dir := t.TempDir()
			shell(t, absolute(t, ".."), nil, "java -jar "+jars[0]+" generate -i api/openapi.yaml -g "+c.generator+
				" -o "+dir+" --additional-properties='"+c.options+"'")
			source, err := os.ReadFile(filepath.Join("testdata/clients", c.program))
			e2etest.Must(t, err)
			e2etest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, c.as)), 0o750))
			e2etest.Must(t, os.WriteFile(filepath.Join(dir, c.as), source, 0o600))
			shell(t, dir, nil, c.compile)
			content := "Bài đăng bằng " + c.generator
			id := shell(t, dir, []string{
				"DATELINE=" + d.API, "TOKEN=" + d.Token, "CONTENT=" + content, "ACCOUNT=" + account,
				"AT=" + time.Now().Add(5*time.Second).Format(time.RFC3339),
			}, c.run)
			d.awaitStatus(id, "posted", 90*time.Second)
			if got := n.copies(content); got != 1 {
				t.Errorf("the post was published %d times, want once", got)
			}
		})
	}
}

// shell runs a command and returns what it prints.
func shell(t *testing.T, dir string, env []string, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod"), env...)
	out, err := cmd.Output()
	if err != nil {
		said := string(out)
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			said += string(failed.Stderr)
		}
		t.Fatalf("%s: %v\n%s", command, err, said[max(len(said)-4000, 0):])
	}
	return strings.TrimSpace(string(out))
}
