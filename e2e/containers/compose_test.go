package containers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
)

// service is a service of docker-compose.yml.
type service struct {
	User        string             `json:"user"`
	Command     []string           `json:"command"`
	Environment map[string]*string `json:"environment"`
	ReadOnly    bool               `json:"read_only"`
	CapDrop     []string           `json:"cap_drop"`
	CapAdd      []string           `json:"cap_add"`
	SecurityOpt []string           `json:"security_opt"`
	Tmpfs       []string           `json:"tmpfs"`
	MemLimit    string             `json:"mem_limit"`
	PidsLimit   int64              `json:"pids_limit"`
	Healthcheck struct {
		Test []string `json:"test"`
	} `json:"healthcheck"`
	Volumes []struct {
		Type     string `json:"type"`
		Source   string `json:"source"`
		Target   string `json:"target"`
		ReadOnly bool   `json:"read_only"`
	} `json:"volumes"`
}

func (s service) env(name string) string {
	if value := s.Environment[name]; value != nil {
		return *value
	}
	return ""
}

// compose reads docker-compose.yml with an .env that `make env` writes.
func compose(t *testing.T) map[string]service {
	t.Helper()
	root, dir := stack.Root(t), t.TempDir()
	for _, name := range []string{"docker-compose.yml", ".env.example", "Dockerfile", "deploy"} {
		output(t, exec.Command("cp", "-a", filepath.Join(root, name), dir))
	}
	output(t, exec.Command("sh", filepath.Join(root, "scripts/make-env.sh"), dir))
	read := exec.Command("go", "run", "./config", dir)
	read.Dir = filepath.Join(root, "deploy", "check")
	var services map[string]service
	e2etest.Must(t, json.Unmarshal(output(t, read), &services))
	return services
}

// image is what the last stage of the Dockerfile contains.
type image struct {
	root       string // folder
	entrypoint []string
	user       string
}

// buildImage puts the files of the last stage of the Dockerfile into a folder.
func buildImage(t *testing.T) image {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(stack.Root(t), "Dockerfile"))
	e2etest.Must(t, err)
	_, last, found := strings.Cut(string(raw), "\nFROM scratch\n")
	if !found {
		t.Fatal("the image is not built from scratch")
	}
	im := image{
		root: filepath.Join(e2etest.OpenDir(t), "root"),
		user: regexp.MustCompile(`(?m)^USER (\S+)$`).FindStringSubmatch(last)[1],
	}
	e2etest.Must(t, json.Unmarshal([]byte(regexp.MustCompile(`(?m)^ENTRYPOINT (.+)$`).FindStringSubmatch(last)[1]),
		&im.entrypoint))
	program := stack.Build(t, "containers", "")
	for _, m := range regexp.MustCompile(`(?m)^COPY (?:--from=build )?(?:--chown=(\d+):(\d+) )?(.+) (\S+)$`).
		FindAllStringSubmatch(last, -1) {
		for _, source := range strings.Fields(m[3]) {
			to := filepath.Join(im.root, m[4])
			switch source {
			case "/out/dateline":
				source = program
			case "/out/keyset", "/out/tmp":
				source = ""
			case "LICENSE", "NOTICE":
				source, to = filepath.Join(stack.Root(t), source), filepath.Join(to, source)
			}
			e2etest.Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
			if source == "" {
				e2etest.Must(t, os.Mkdir(to, 0o755))
			} else {
				output(t, exec.Command("cp", source, to))
			}
			if m[1] != "" {
				output(t, exec.Command("chown", m[1]+":"+m[2], to))
			}
		}
	}
	return im
}

func output(t testing.TB, c *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(c.Args, " "), err, out, stderr.String())
	}
	return out
}

// bytesOf parses the memory limits of docker-compose.yml.
func bytesOf(t testing.TB, limit string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(limit, 10, 64)
	e2etest.Must(t, err)
	return n
}
