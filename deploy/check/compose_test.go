package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// checkout is a copy of the files that Compose reads, with an .env that `make env`
// created.
func checkout(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root := filepath.Join("..", "..")
	for _, name := range []string{"docker-compose.yml", ".env.example", "Dockerfile", "deploy"} {
		if out, err := exec.Command("cp", "-a", filepath.Join(root, name), dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := exec.Command("sh", filepath.Join(root, "scripts", "make-env.sh"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// load reads the project like `docker compose config`: schema, variables, references
// and all.
func load(t *testing.T, dir string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "docker-compose.yml")},
		cli.WithWorkingDirectory(dir), cli.WithEnvFiles(), cli.WithDotEnv, cli.WithResolvedPaths(true),
		cli.WithDefaultProfiles("tools"))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeTakesIt(t *testing.T) {
	p := project(t)
	for _, name := range []string{
		"api", "worker", "operator", "migrate", "keyset", "temporal", "temporal-ui",
		"postgres", "redis", "s3", "meilisearch",
	} {
		if _, ok := p.Services[name]; !ok {
			t.Errorf("there is no service %s", name)
		}
	}
}

// A value that is missing in .env prevents the start: no password has a default.
func TestWithoutEnvNothingStarts(t *testing.T) {
	dir := checkout(t)
	raw, err := os.ReadFile(filepath.Join(dir, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(".env is %v, %v", info.Mode(), err)
	}
	for line := range strings.Lines(string(raw)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if secret := regexp.MustCompile("PASSWORD|SECRET|KEY").MatchString(name); secret && len(value) < 32 {
			t.Errorf("%s has %d characters", name, len(value))
		}
		without := strings.ReplaceAll(string(raw), strings.TrimSpace(line)+"\n", "")
		if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(without), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(t, dir); err == nil || !strings.Contains(err.Error(), "run make env") {
			t.Errorf("without %s it starts (%v)", name, err)
		}
	}
}

func TestImagesArePinned(t *testing.T) {
	version := regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?([.-]\w+)*$`)
	for name, s := range project(t).Services {
		if s.Build == nil && !version.MatchString(s.Image) {
			t.Errorf("%s is %s, without an exact version", name, s.Image)
		}
		if s.Build != nil && s.PullPolicy != "build" {
			t.Errorf("%s may be pulled from anywhere", name)
		}
	}
}

// Services run until they are stopped; jobs run once, and are declared so.
func isJob(s types.ServiceConfig) bool { return s.Restart == "no" }

func TestServicesAreBounded(t *testing.T) {
	p := project(t)
	for name, s := range p.Services {
		if s.MemLimit == 0 || s.PidsLimit == 0 {
			t.Errorf("%s has no limit (memory %d, processes %d)", name, s.MemLimit, s.PidsLimit)
		}
		if s.CPUS == 0 {
			t.Errorf("%s has no CPU limit", name)
		}
		if s.Logging == nil || s.Logging.Options["max-size"] == "" {
			t.Errorf("%s has no log limit", name)
		}
		if !isJob(s) && (s.HealthCheck == nil || len(s.HealthCheck.Test) == 0) {
			t.Errorf("%s has no health check", name)
		}
		if !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || len(s.SecurityOpt) == 0 {
			t.Errorf("%s is not hardened", name)
		}
		if root := s.User == "" || s.User == "root" || strings.HasPrefix(s.User, "0"); root && !rootAllowed(name) {
			t.Errorf("%s runs as %q", name, s.User)
		}
	}
}

// rootAllowed are services whose image switches to an unprivileged user itself, and the
// job that changes the owner of a volume.
func rootAllowed(name string) bool {
	return strings.HasPrefix(name, "temporal") || name == "meilisearch-volume"
}

func TestPortsAreOnLoopback(t *testing.T) {
	p := project(t)
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s on %q", name, port.Published, port.HostIP)
			}
		}
		if store := p.Networks["stores"]; !store.Internal {
			t.Error("the network of the stores is not internal")
		}
	}
}

// Services with data use a named volume and get time to stop.
func TestDataOutlivesContainers(t *testing.T) {
	p := project(t)
	for _, name := range []string{"postgres", "redis", "s3", "meilisearch"} {
		s, persistent := p.Services[name], false
		for _, v := range s.Volumes {
			persistent = persistent || v.Type == types.VolumeTypeVolume && v.Source != ""
		}
		if !persistent {
			t.Errorf("%s has no volume", name)
		}
		if s.StopGracePeriod == nil {
			t.Errorf("%s is killed after 10 s", name)
		}
	}
	for name, want := range map[string]string{"worker": "1m0s", "api": "30s"} {
		if got := fmt.Sprint(p.Services[name].StopGracePeriod); got != want {
			t.Errorf("%s gets %s to stop, want %s", name, got, want)
		}
	}
	if command := strings.Join(p.Services["redis"].Command, " "); !strings.Contains(command, "appendonly yes") ||
		!strings.Contains(command, "noeviction") {
		t.Error("Redis may lose counts")
	}
}

// Services start after their dependencies, which all exist.
func TestDependenciesAreMet(t *testing.T) {
	p := project(t)
	for name, s := range p.Services {
		for on, d := range s.DependsOn {
			other, ok := p.Services[on]
			if !ok {
				t.Errorf("%s waits for %s, which does not exist", name, on)
				continue
			}
			want := types.ServiceConditionHealthy
			if isJob(other) {
				want = types.ServiceConditionCompletedSuccessfully
			}
			if d.Condition != want {
				t.Errorf("%s waits for %s to be %s, not %s", name, on, d.Condition, want)
			}
		}
	}
	if profiles := p.Services["operator"].Profiles; len(profiles) != 1 {
		t.Errorf("the operator's tools start automatically: %v", profiles)
	}
	for _, name := range []string{"api", "worker"} {
		if _, ok := p.Services[name].DependsOn["migrate"]; !ok {
			t.Errorf("%s does not wait for the schema", name)
		}
	}
}
