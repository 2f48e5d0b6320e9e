// Package deploy checks the files in this directory and docker-compose.yml. The checks
// need no container engine: they read the files, and run the one script that runs
// outside containers.
package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root = ".."

// composeFile is the part of the Compose specification that the checks look at.
// https://github.com/compose-spec/compose-spec/blob/main/spec.md
type composeFile struct {
	Include  []string
	Services map[string]service
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]any
}

type service struct {
	Image       string
	Build       any
	User        string
	Restart     string
	Ports       []string
	Networks    []string
	NetworkMode string `yaml:"network_mode"`
	Volumes     []string
	Environment map[string]string
	Healthcheck *struct{ Test any }
	MemLimit    string   `yaml:"mem_limit"`
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	DependsOn   map[string]struct {
		Condition string
	} `yaml:"depends_on"`
}

// job reports whether the service runs once; all others run permanently.
func (s service) job() bool { return s.Restart == "no" }

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var file composeFile
	if err := yaml.Unmarshal([]byte(readFile(t, "docker-compose.yml")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) == 0 {
		t.Fatal("docker-compose.yml has no services")
	}
	for _, name := range file.Include {
		file.merge(t, name)
	}
	return file
}

// merge adds an included file like Compose: its paths are relative to it, and
// definitions in both files must be equal
// (https://github.com/compose-spec/compose-spec/blob/main/14-include.md).
func (f *composeFile) merge(t *testing.T, name string) {
	t.Helper()
	var more composeFile
	if err := yaml.Unmarshal([]byte(readFile(t, name)), &more); err != nil {
		t.Fatal(err)
	}
	for n, s := range more.Services {
		if _, twice := f.Services[n]; twice {
			t.Errorf("%s: the service %s is defined twice", name, n)
		}
		for i, mount := range s.Volumes {
			if strings.HasPrefix(mount, ".") {
				source, rest, _ := strings.Cut(mount, ":")
				s.Volumes[i] = "./" + filepath.Join(filepath.Dir(name), source) + ":" + rest
			}
		}
		f.Services[n] = s
	}
	for n, network := range more.Networks {
		if was, twice := f.Networks[n]; twice && was != network {
			t.Errorf("%s: the network %s is defined differently", name, n)
		}
		f.Networks[n] = network
	}
	for n, volume := range more.Volumes {
		f.Volumes[n] = volume
	}
}

// parseEnv reads NAME=value lines; a later line for a name overrides earlier ones, as
// in Compose.
func parseEnv(content string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(content) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values
}

// reference matches ${NAME...}, and also $${NAME}, which Compose passes on unchanged; a
// match of the latter begins with two dollar signs.
var reference = regexp.MustCompile(`\$?\$\{([A-Za-z0-9_]+)([^}]*)\}`)

// scalars returns every key and value of the document, without its comments.
func scalars(node *yaml.Node) []string {
	var values []string
	if node.Kind == yaml.ScalarNode {
		values = append(values, node.Value)
	}
	for _, child := range node.Content {
		values = append(values, scalars(child)...)
	}
	return values
}

func TestVariables(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(readFile(t, "docker-compose.yml")), &document); err != nil {
		t.Fatal(err)
	}
	example := parseEnv(readFile(t, ".env.example"))
	used := map[string]bool{}
	for _, value := range scalars(&document) {
		for _, match := range reference.FindAllStringSubmatch(value, -1) {
			if strings.HasPrefix(match[0], "$$") {
				continue
			}
			name := match[1]
			used[name] = true
			if _, ok := example[name]; !ok {
				t.Errorf("%s is not in .env.example", match[0])
			}
			if match[2] != ":?run make env" {
				t.Errorf("%s must be ${%s:?run make env}, so that a missing value stops the start", match[0], name)
			}
		}
	}
	for name := range example {
		if !used[name] {
			t.Errorf("%s is in .env.example but docker-compose.yml does not use it", name)
		}
	}
}

func TestImagesArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z0-9./_-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[a-z0-9.]+)*$`)
	for name, s := range readCompose(t).Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q needs a version as its tag", name, s.Image)
		}
	}
	stages := map[string]bool{"scratch": true}
	from := regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)(?: AS (\S+))?$`)
	matches := from.FindAllStringSubmatch(readFile(t, "Dockerfile"), -1)
	if len(matches) == 0 {
		t.Fatal("Dockerfile has no FROM")
	}
	for _, match := range matches {
		if !stages[match[1]] && !pinned.MatchString(match[1]) {
			t.Errorf("Dockerfile: image %q needs a version as its tag", match[1])
		}
		stages[match[2]] = true
	}
}

func TestPortsAreLocal(t *testing.T) {
	published := 0
	for name, s := range readCompose(t).Services {
		for _, port := range s.Ports {
			published++
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %q is not published on 127.0.0.1", name, port)
			}
		}
	}
	if published == 0 {
		t.Error("no published port found: the checked field is wrong")
	}
}

func TestServicesAreSupervised(t *testing.T) {
	for name, s := range readCompose(t).Services {
		if s.MemLimit == "" {
			t.Errorf("%s has no memory limit", name)
		}
		if s.job() {
			continue
		}
		if s.Restart != "unless-stopped" {
			t.Errorf("%s: restart is %q, want unless-stopped, or \"no\" for a job", name, s.Restart)
		}
		if s.Healthcheck == nil || s.Healthcheck.Test == nil {
			t.Errorf("%s has no health check", name)
		}
	}
}

func TestServicesAreConfined(t *testing.T) {
	// These images set an unprivileged user themselves (USER in their Dockerfiles).
	unprivileged := []string{"temporalio/server:", "temporalio/admin-tools:", "temporalio/ui:"}
	for name, s := range readCompose(t).Services {
		if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s must be read_only, drop all capabilities and gain no privileges", name)
		}
		ownUser := slices.ContainsFunc(unprivileged, func(image string) bool {
			return strings.HasPrefix(s.Image, image)
		})
		if s.User == "" && !ownUser {
			t.Errorf("%s runs as the image's user: name an unprivileged one", name)
		}
		if strings.HasPrefix(s.User, "0") && (!s.job() || s.NetworkMode != "none") {
			t.Errorf("%s runs as root: only a job without a network may", name)
		}
	}
}

func TestReferencesExist(t *testing.T) {
	file := readCompose(t)
	for name, s := range file.Services {
		for target, dependency := range s.DependsOn {
			other, ok := file.Services[target]
			if !ok {
				t.Errorf("%s depends on %s, which does not exist", name, target)
				continue
			}
			want := "service_healthy"
			if other.job() {
				want = "service_completed_successfully"
			}
			if dependency.Condition != want {
				t.Errorf("%s waits for %s to be %q, want %q", name, target, dependency.Condition, want)
			}
		}
		for _, network := range s.Networks {
			if _, ok := file.Networks[network]; !ok {
				t.Errorf("%s joins network %s, which does not exist", name, network)
			}
		}
		if len(s.Networks) == 0 && s.NetworkMode != "none" {
			t.Errorf("%s would join the default network: name its networks", name)
		}
		for _, mount := range s.Volumes {
			source, _, _ := strings.Cut(mount, ":")
			if strings.HasPrefix(source, "./") {
				if _, err := os.Stat(filepath.Join(root, source)); err != nil {
					t.Errorf("%s mounts %s: %v", name, source, err)
				}
				if !strings.HasSuffix(mount, ":ro") {
					t.Errorf("%s mounts the checkout's %s for writing", name, source)
				}
			} else if _, ok := file.Volumes[source]; !ok {
				t.Errorf("%s mounts volume %s, which does not exist", name, source)
			}
		}
	}
}

// TestStoresAreIsolated checks that the stores have no access to the internet and
// publish no port.
func TestStoresAreIsolated(t *testing.T) {
	file := readCompose(t)
	if !file.Networks["stores"].Internal {
		t.Error("network stores must be internal")
	}
	for _, name := range []string{"postgres", "redis", "s3", "meilisearch"} {
		s, ok := file.Services[name]
		if !ok {
			t.Errorf("service %s does not exist", name)
			continue
		}
		if !slices.Equal(s.Networks, []string{"stores"}) || len(s.Ports) > 0 {
			t.Errorf("%s must be on the network stores alone and publish no port", name)
		}
	}
}

func TestNoSecretLiterals(t *testing.T) {
	example := parseEnv(readFile(t, ".env.example"))
	secretName := regexp.MustCompile(`PASSWORD|PWD|SECRET|TOKEN|ACCESS_KEY|MASTER_KEY`)
	for name, value := range example {
		if secretName.MatchString(name) && value != "" {
			t.Errorf(".env.example: %s must be empty, so that make env fills it", name)
		}
	}

	// A secret is one reference to a variable that .env.example leaves empty.
	isReference := func(value string) bool {
		match := reference.FindStringSubmatch(value)
		if match == nil || match[0] != value {
			return false
		}
		content, ok := example[match[1]]
		return ok && content == ""
	}
	userinfo := regexp.MustCompile(`://[^/@:]*:(\$\{[^}]*\}|[^@/]*)@`)
	checked := 0
	for name, s := range readCompose(t).Services {
		for variable, value := range s.Environment {
			if secretName.MatchString(variable) {
				checked++
				if !isReference(value) {
					t.Errorf("%s: %s must come from an empty variable of .env.example", name, variable)
				}
			}
			for _, match := range userinfo.FindAllStringSubmatch(value, -1) {
				checked++
				if !isReference(match[1]) {
					t.Errorf("%s: the password in %s must come from an empty variable of .env.example", name, variable)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no secret was checked: the names to look for are wrong")
	}
}
