package temporaltest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"dateline/internal/embedded/temporalserver"
	"dateline/internal/testing/e2etest"
	"dateline/workflows"
)

// PostgresServer is a Temporal server on Postgres that a test restarts.
type PostgresServer struct {
	Address string

	config  string // folder
	server  temporalserver.Server
	process process
}

// StartPostgres runs a Temporal server on an empty Postgres database for the duration of the
// test. `make temporal-server` builds its programs from source; no registry has them.
func StartPostgres(t testing.TB, database string) *PostgresServer {
	t.Helper()
	at := createStore(t, database)
	s := &PostgresServer{config: t.TempDir(), server: newServer(t)}
	s.Address = s.server.Address()
	writeConfig(t, at, s.config, nodeConfig{IP: "127.0.0.1", Shards: 4, Ports: map[string]int{"frontend": s.server.Port}})
	s.start(t)
	return s
}

func newServer(t testing.TB) temporalserver.Server {
	return temporalserver.Server{
		Namespace: Namespace, SearchAttributes: workflows.SearchAttributes(), Port: freePort(t),
	}
}

// createStore creates the databases of a server next to an empty one.
func createStore(t testing.TB, database string) *url.URL {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{"temporal", "visibility"} {
		name := strings.TrimPrefix(at.Path, "/") + "_" + schema
		sqlTool(t, at, name, "create-database")
		sqlTool(t, at, name, "setup-schema", "--version", "0.0")
		sqlTool(t, at, name, "update-schema", "--schema-name", "postgresql/v12/"+schema)
	}
	return at
}

// Restart kills the server and restarts it on the same store and port.
func (s *PostgresServer) Restart(t testing.TB) {
	t.Helper()
	s.process.kill()
	s.start(t)
}

func (s *PostgresServer) start(t testing.TB) {
	t.Helper()
	s.process = runNode(t, s.config, func(ctx context.Context) error { return ready(ctx, s.server) })
}

// runNode runs a process of the server.
func runNode(t testing.TB, config string, ready func(context.Context) error) process {
	t.Helper()
	return run(t, exec.Command(serverProgram(t, "server"), "--root", config, "--config", ".", "--env", "postgres",
		"start"), temporalserver.Env(), ready)
}

// ready creates the namespace.
func ready(ctx context.Context, s temporalserver.Server) error {
	if err := createNamespace(ctx, s.Address()); err != nil {
		return err
	}
	return s.Ready(ctx)
}

func createNamespace(ctx context.Context, address string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address, Logger: quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        Namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(temporalserver.Retention),
	})
	var exists *serviceerror.NamespaceAlreadyExists
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// serverProgram is a program of the server that `make temporal-server` built.
func serverProgram(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("TEMPORAL_SERVER")
	if dir == "" {
		t.Fatal("TEMPORAL_SERVER is not set to the folder of the Temporal server's programs; run this by a make " +
			"target, such as make bench/acceptance")
	}
	return filepath.Join(dir, name)
}

// sqlTool runs the tool that creates and migrates the databases of a Temporal server.
func sqlTool(t testing.TB, at *url.URL, database string, args ...string) {
	t.Helper()
	password, _ := at.User.Password()
	host, port := at.Hostname(), at.Port()
	cmd := exec.Command(serverProgram(t, "sql"),
		append([]string{
			"--plugin", "postgres12_pgx", "--endpoint", host, "--port", port,
			"--user", at.User.Username(), "--password", password, "--database", database,
		}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	port, err := strconv.Atoi(e2etest.FreePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// nodeConfig is what differs between processes of the server.
type nodeConfig struct {
	IP     string
	Shards int
	Ports  map[string]int // of the services; the others get a free one
}

// writeConfig writes the configuration of a process with the four services.
func writeConfig(t testing.TB, at *url.URL, dir string, node nodeConfig) {
	t.Helper()
	password, _ := at.User.Password()
	type service struct {
		Name       string
		GRPC, Ring int
	}
	values := struct {
		nodeConfig

		Host, User, Password, Database string
		Dynamic                        string // file
		Port                           int
		Services                       []service
	}{
		nodeConfig: node,
		Host:       at.Host, User: at.User.Username(), Password: password, Database: strings.TrimPrefix(at.Path, "/"),
		Port: node.Ports["frontend"], Dynamic: filepath.Join(dir, "dynamic.yaml"),
	}
	for _, name := range []string{"frontend", "matching", "history", "worker"} {
		port := node.Ports[name]
		if port == 0 {
			port = freePort(t)
		}
		values.Services = append(values.Services, service{Name: name, GRPC: port, Ring: freePort(t)})
	}
	f, err := os.Create(filepath.Join(dir, "postgres.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(template.Must(template.New("").Parse(postgresConfig)).Execute(f, values),
		f.Close()); err != nil {
		t.Fatal(err)
	}
	var dynamic strings.Builder
	for _, value := range temporalserver.DynamicConfig() {
		name, v, _ := strings.Cut(value, "=")
		_, _ = fmt.Fprintf(&dynamic, "%s:\n  - value: %s\n", name, v)
	}
	if err := os.WriteFile(filepath.Join(dir, "dynamic.yaml"), []byte(dynamic.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// postgresConfig follows config/development-postgres12.yaml of go.temporal.io/server v1.32.1.
const postgresConfig = `log: {stdout: true, level: error}
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: {{.Shards}}
  datastores:
    default:
      sql: {pluginName: postgres12_pgx, databaseName: "{{.Database}}_temporal", connectAddr: "{{.Host}}", connectProtocol: tcp,
        user: "{{.User}}", password: "{{.Password}}", maxConns: 20, maxIdleConns: 20}
    visibility:
      sql: {pluginName: postgres12_pgx, databaseName: "{{.Database}}_visibility", connectAddr: "{{.Host}}", connectProtocol: tcp,
        user: "{{.User}}", password: "{{.Password}}", maxConns: 20, maxIdleConns: 20}
global:
  membership: {maxJoinDuration: 30s, broadcastAddress: {{.IP}}}
services:
{{- range .Services}}
  {{.Name}}: {rpc: {grpcPort: {{.GRPC}}, membershipPort: {{.Ring}}, bindOnIP: {{$.IP}}}}
{{- end}}
clusterMetadata:
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: {enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "{{.IP}}:{{.Port}}"}
dcRedirectionPolicy: {policy: noop}
publicClient: {hostPort: "{{.IP}}:{{.Port}}"}
dynamicConfigClient: {filepath: "{{.Dynamic}}", pollInterval: 1m}
`
