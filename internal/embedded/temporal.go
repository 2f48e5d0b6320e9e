package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

// program is a Temporal server that takes the flags of `temporal server start-dev`.
type program struct {
	path string
	cli  bool // the official CLI, which requires the words "server start-dev" first
}

// findTemporal finds a server, or builds temporald. It runs before root privileges are dropped, while the checkout can be read.
func (h *Host) findTemporal(ctx context.Context, progress io.Writer) (program, error) {
	for _, name := range []string{"temporal", "temporald"} {
		if path, err := h.lookup.program(name); err == nil {
			return h.reachable(program{path: path, cli: name == "temporal"}, "")
		}
	}
	dirs := h.lookup.sourceDirs()
	own := h.path("bin", "temporald")
	source := findSource(h.cfg.TemporaldDir, dirs)
	if source == "" {
		if h.cfg.TemporaldDir != "" {
			return program{}, fmt.Errorf("DATELINE_TEMPORALD_DIR %s does not hold temporald's source (no go.mod)", h.cfg.TemporaldDir)
		}
		for _, dir := range dirs {
			for _, path := range []string{filepath.Join(dir, "temporald"), filepath.Join(dir, "bin", "temporald")} {
				if isProgram(path) {
					return h.reachable(program{path: path}, "")
				}
			}
		}
		if isProgram(own) {
			return program{path: own}, nil
		}
		return program{}, errors.New("no Temporal server was found: set TEMPORAL_ADDRESS to a running one, or install the Temporal CLI" +
			" (https://docs.temporal.io/cli), or start from a checkout so that temporald can be built (DATELINE_TEMPORALD_DIR)")
	}
	stamp, err := sourceStamp(source)
	if err != nil {
		return program{}, fmt.Errorf("read temporald's source in %s: %w", source, err)
	}
	candidates := []string{own, filepath.Join(filepath.Dir(source), "bin", "temporald")}
	for _, dir := range dirs {
		candidates = append(candidates, filepath.Join(dir, "temporald"), filepath.Join(dir, "bin", "temporald"))
	}
	for _, path := range candidates {
		if isProgram(path) && readStamp(path) == stamp {
			return h.reachable(program{path: path}, stamp)
		}
	}
	if err := BuildTemporald(ctx, source, own, progress); err != nil {
		return program{}, err
	}
	return program{path: own}, nil
}

// findSource returns the directory of temporald's module, or "".
func findSource(configured string, dirs []string) string {
	candidates := []string{configured}
	if configured == "" {
		candidates = nil
		for _, dir := range dirs {
			candidates = append(candidates, filepath.Join(dir, "temporald"))
		}
	}
	for _, dir := range candidates {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// reachable copies a program into the data directory if root, but not nobody, can run
// it at its path.
func (h *Host) reachable(p program, stamp string) (program, error) {
	own := h.path("bin", filepath.Base(p.path))
	if os.Geteuid() != 0 || p.path == own || othersCanRun(p.path) {
		return p, nil
	}
	if err := copyProgram(p.path, own); err != nil {
		return p, fmt.Errorf("copy %s into the data directory: %w", p.path, err)
	}
	if stamp != "" {
		if err := writeStamp(own, stamp); err != nil {
			return p, err
		}
	}
	p.path = own
	return p, nil
}

func copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // Already removed on success.
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(0o755), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

func (h *Host) startTemporal(ctx context.Context, attributes map[string]string) (engine, error) {
	dir := h.path("temporal")
	database := h.path("temporal", "temporal.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return engine{}, err
	}
	// Two servers on one SQLite file would damage it.
	if err := stopOrphan(h.path("run", "temporal.pid"), database, syscall.SIGTERM, 12*time.Second); err != nil {
		return engine{}, fmt.Errorf("temporal: %w", err)
	}
	var uiPort int
	c, port, err := h.startOnPort(ctx, h.cfg.TemporalPort, func(port int) (childSpec, error) {
		var err error
		if uiPort, err = h.ports.pick(h.cfg.TemporalUIPort); err != nil {
			return childSpec{}, err
		}
		// temporald needs up to 8 s to stop; the rest is room for a busy machine.
		return childSpec{name: "temporal", path: h.temporal.path, dir: dir, stopSignal: syscall.SIGTERM, grace: 15 * time.Second,
			args: h.temporal.args(database, port, uiPort, h.cfg.TemporalNamespace, attributes),
			ready: func(ctx context.Context) error {
				return h.temporalReady(ctx, net.JoinHostPort(loopback, strconv.Itoa(port)), attributes)
			}}, nil
	})
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: "temporal", child: c,
		fill: func(e *Engines) {
			e.TemporalAddress = net.JoinHostPort(loopback, strconv.Itoa(port))
			if e.TemporalUIURL == "" {
				e.TemporalUIURL = "http://" + net.JoinHostPort(loopback, strconv.Itoa(uiPort))
			}
		},
	}, nil
}

func (p program) args(database string, port, uiPort int, namespace string, attributes map[string]string) []string {
	var args []string
	if p.cli {
		args = append(args, "server", "start-dev")
	}
	args = append(args, "--db-filename", database, "--ip", loopback, "--port", strconv.Itoa(port), "--ui-port", strconv.Itoa(uiPort),
		"--namespace", namespace, "--log-level", "warn")
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		args = append(args, "--search-attribute", name+"="+attributes[name])
	}
	return args
}

// temporalReady succeeds when the frontend is healthy and the namespace knows the search attributes.
func (h *Host) temporalReady(ctx context.Context, address string, attributes map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The client waits longer and longer between its attempts to connect.
	var d net.Dialer
	listens, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_ = listens.Close()
	c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: h.cfg.TemporalNamespace,
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return err
	}
	if _, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: h.cfg.TemporalNamespace}); err != nil {
		return err
	}
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: h.cfg.TemporalNamespace})
	if err != nil {
		return err
	}
	missing := make(map[string]enumspb.IndexedValueType)
	for name, kind := range attributes {
		if _, ok := listed.GetCustomAttributes()[name]; !ok {
			value, err := enumspb.IndexedValueTypeFromString(kind)
			if err != nil {
				return permanent{fmt.Errorf("search attribute %s: %w", name, err)}
			}
			missing[name] = value
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if h.temporal.cli {
		// start-dev adds them to a namespace that it creates; one from an earlier
		// version may lack some. temporald adds them itself and would fail on existing
		// ones.
		if _, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: h.cfg.TemporalNamespace, SearchAttributes: missing}); err != nil {
			return err
		}
	}
	return fmt.Errorf("the namespace %s lacks search attributes: %v", h.cfg.TemporalNamespace, slices.Sorted(maps.Keys(missing)))
}
