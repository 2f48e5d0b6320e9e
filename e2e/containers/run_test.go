package containers

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dateline/internal/testing/e2etest"
)

// network is a network namespace with loopback only, in which containers and engines have
// the ports of docker-compose.yml.
type network struct {
	name    string
	volumes string // folder
	hosts   string // file
	runtime string // of containers
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	dir := e2etest.OpenDir(t)
	n := &network{
		name: "dateline-" + filepath.Base(dir), volumes: filepath.Join(dir, "volumes"),
		hosts: filepath.Join(dir, "hosts"),
	}
	for _, name := range []string{"runc", "crun"} {
		if path, err := exec.LookPath(name); err == nil && n.runtime == "" {
			n.runtime = path
		}
	}
	if n.runtime == "" {
		t.Fatal("needs the package runc or crun")
	}
	e2etest.Must(t, os.MkdirAll(n.volumes, 0o755))
	e2etest.Must(t, os.WriteFile(n.hosts, []byte("127.0.0.1 localhost postgres redis temporal s3\n"), 0o644))
	output(t, exec.Command("ip", "netns", "add", n.name))
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", n.name).Run() })
	output(t, exec.Command("ip", "-n", n.name, "link", "set", "lo", "up"))
	return n
}

// run starts a program in the network.
func (n *network) run(t testing.TB, env []string, command ...string) *e2etest.Child {
	t.Helper()
	return e2etest.Run(t, "/", env, "ip", append([]string{"netns", "exec", n.name}, command...)...)
}

// container is a service that runs as docker-compose.yml says.
type container struct {
	*e2etest.Child
	id      string
	runtime string
}

// start runs a service in a container: its user, read-only root, capabilities, limits,
// volumes, settings and command are those of docker-compose.yml.
func (n *network) start(
	t *testing.T, name string, s service, im image, more map[string]string, command ...string,
) container {
	t.Helper()
	bundle := e2etest.OpenDir(t)
	c := container{id: "dateline-" + name + "-" + filepath.Base(bundle), runtime: n.runtime}
	if len(command) == 0 {
		command = s.Command
	}
	raw, err := json.Marshal(n.spec(t, s, im, more, command))
	e2etest.Must(t, err)
	e2etest.Must(t, os.WriteFile(filepath.Join(bundle, "config.json"), raw, 0o600))
	t.Cleanup(func() { _ = exec.Command(c.runtime, "delete", "--force", c.id).Run() })
	c.Child = e2etest.Run(t, bundle, nil, c.runtime, "run", c.id)
	return c
}

// object is a part of the configuration of an OCI runtime:
// https://github.com/opencontainers/runtime-spec/blob/main/config.md
type object map[string]any

func (n *network) spec(t *testing.T, s service, im image, more map[string]string, command []string) object {
	t.Helper()
	uid, gid, _ := strings.Cut(s.User, ":")
	user, err := strconv.Atoi(uid)
	e2etest.Must(t, err)
	group, err := strconv.Atoi(gid)
	e2etest.Must(t, err)
	env := []string{"PATH=/usr/bin:/bin", "HOME=/"}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		env = append(env, name+"="+s.env(name))
	}
	for name, value := range more {
		env = append(env, name+"="+value)
	}
	mounts := []object{
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{
			"nosuid", "strictatime", "mode=755", "size=64k",
		}},
		{"destination": "/etc/hosts", "type": "bind", "source": n.hosts, "options": []string{"bind", "ro"}},
	}
	for _, v := range s.Volumes {
		source := filepath.Join(n.volumes, v.Source)
		if _, err := os.Stat(source); err != nil { // a new volume inherits the owner of the folder in the image
			e2etest.Must(t, os.MkdirAll(source, 0o755))
			output(t, exec.Command("chown", "--reference", filepath.Join(im.root, v.Target), source))
		}
		options := []string{"bind", "rw"}
		if v.ReadOnly {
			options[1] = "ro"
		}
		mounts = append(mounts, object{"destination": v.Target, "type": "bind", "source": source, "options": options})
	}
	for _, at := range s.Tmpfs {
		path, size, _ := strings.Cut(at, ":")
		mounts = append(mounts, object{
			"destination": path, "type": "tmpfs", "source": "tmpfs", "options": []string{
				"mode=1777", "nosuid", "nodev", size,
			},
		})
	}
	capabilities := s.CapAdd
	if !slices.Contains(s.CapDrop, "ALL") {
		t.Fatalf("cap_drop is %v, want ALL", s.CapDrop)
	}
	caps := object{}
	for _, set := range []string{"bounding", "effective", "inheritable", "permitted"} {
		caps[set] = slices.Concat([]string{}, capabilities)
	}
	return object{
		"ociVersion": "1.0.0",
		"process": object{
			"user": object{"uid": user, "gid": group},
			"args": append(slices.Clone(im.entrypoint), command...), "env": env, "cwd": "/",
			"capabilities": caps, "noNewPrivileges": slices.Contains(s.SecurityOpt, "no-new-privileges:true"),
		},
		"root":     object{"path": im.root, "readonly": s.ReadOnly},
		"hostname": "dateline",
		"mounts":   mounts,
		"linux": object{
			"namespaces": []object{
				{"type": "pid"},
				{"type": "ipc"},
				{"type": "uts"},
				{"type": "mount"},
				{"type": "network", "path": "/var/run/netns/" + n.name},
			},
			"resources": object{"memory": object{"limit": bytesOf(t, s.MemLimit)}, "pids": object{
				"limit": s.PidsLimit,
			}},
			"maskedPaths": []string{"/proc/kcore", "/proc/keys", "/proc/timer_list"}, "readonlyPaths": []string{
				"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
			},
		},
	}
}

// exec runs a program in a running container, like a health check.
func (c container) exec(command ...string) ([]byte, error) {
	return exec.Command(c.runtime, append([]string{"exec", c.id}, command...)...).CombinedOutput()
}

// pid returns the process ID of the program in a container.
func (c container) pid(t testing.TB) int {
	t.Helper()
	var state struct{ PID int }
	e2etest.Must(t, json.Unmarshal(output(t, exec.Command(c.runtime, "state", c.id)), &state))
	return state.PID
}
