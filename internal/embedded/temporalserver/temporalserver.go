// Package temporalserver configures the Temporal server of one machine: `temporal server
// start-dev` of the Temporal CLI, with a SQLite file and settings for durability and for
// thousands of workflows at one second.
package temporalserver

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Retention is how long closed workflows are kept. start-dev creates namespaces with 24 hours.
const Retention = 72 * time.Hour

// loopback is the only address that the server listens on: it has no authentication.
const loopback = "127.0.0.1"

// Server is the configuration of a server.
type Server struct {
	Database         string // path of the SQLite file; created if missing
	Port             int
	UIPort           int // 0: no Web UI
	MetricsPort      int // 0: a free port
	Namespace        string
	SearchAttributes map[string]string // custom ones by name, with types as in the CLI: "Keyword"
}

// Address is that of the frontend.
func (s Server) Address() string { return net.JoinHostPort(loopback, strconv.Itoa(s.Port)) }

// Env is added to the environment of the server. Nearly all of its allocations are garbage at the end of a request, and
// Go's default collects a live heap of some 50 MB many times a second.
func Env() []string { return []string{"GOGC=300"} }

// Args returns the arguments of the CLI.
func (s Server) Args() []string {
	args := []string{
		"server", "start-dev", "--ip", loopback, "--port", strconv.Itoa(s.Port), "--namespace",
		s.Namespace,
		"--log-level", "warn", "--db-filename", s.Database,
	}
	if s.UIPort == 0 {
		args = append(args, "--headless")
	} else {
		args = append(args, "--ui-port", strconv.Itoa(s.UIPort))
	}
	if s.MetricsPort != 0 {
		args = append(args, "--metrics-port", strconv.Itoa(s.MetricsPort))
	}
	for _, name := range slices.Sorted(maps.Keys(s.SearchAttributes)) {
		args = append(args, "--search-attribute", name+"="+s.SearchAttributes[name])
	}
	// https://www.sqlite.org/pragma.html
	for _, pragma := range []string{
		"journal_mode=wal",
		"synchronous=full",       // a change that was acknowledged also survives a power cut
		"locking_mode=exclusive", // two servers on one file would fight over its shards
		// A workflow rewrites the same pages over and over: they are carried from the log to the file every 64 MB and
		// not, as by default, every 4, and are found in 128 MB of memory and not in 2.
		"wal_autocheckpoint=16384", // pages of 4 KiB
		"cache_size=-131072",       // KiB, which SQLite expects as a negative number
	} {
		args = append(args, "--sqlite-pragma", pragma)
	}
	for _, value := range DynamicConfig() {
		args = append(args, "--dynamic-config-value", value)
	}
	return args
}

// DynamicConfig returns settings of the server as key=value.
// https://github.com/temporalio/temporal/blob/v1.32.1/common/dynamicconfig/constants.go
func DynamicConfig() []string {
	return []string{
		"frontend.enableServerVersionCheck=false", // no calls home
		// More partitions only help when they are spread over several hosts, and they cost order and forwarding.
		"matching.numTaskqueueReadPartitions=1",
		"matching.numTaskqueueWritePartitions=1",
		// SQLite is the bottleneck. Rejecting work earlier would only delay thousands of posts of one second.
		"frontend.rps=20000",
		"frontend.namespaceRPS=20000",
		"frontend.namespaceRPS.visibility=200",
		"frontend.namespaceCount=10000", // concurrent polls
		"history.rps=20000",
		"matching.rps=20000",
		"frontend.persistenceMaxQPS=20000",
		"history.persistenceMaxQPS=45000",
		"matching.persistenceMaxQPS=20000",
		"worker.persistenceMaxQPS=5000",
	}
}

// Ready succeeds when the frontend is healthy and the namespace has the search attributes and the retention, which it
// sets on a namespace that an earlier version created.
func (s Server) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The client waits longer and longer between its attempts to connect.
	var d net.Dialer
	listens, err := d.DialContext(ctx, "tcp", s.Address())
	if err != nil {
		return err
	}
	_ = listens.Close()
	c, err := client.NewLazyClient(client.Options{
		HostPort: s.Address(), Namespace: s.Namespace,
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return err
	}
	if err := s.setRetention(ctx, c); err != nil {
		return err
	}
	return s.addSearchAttributes(ctx, c)
}

// setRetention lengthens the retention of a namespace that start-dev created; one that an operator set to more stays.
func (s Server) setRetention(ctx context.Context, c client.Client) error {
	described, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{
		Namespace: s.Namespace,
	})
	if err != nil || described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() >= Retention {
		return err
	}
	_, err = c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: s.Namespace,
		Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(Retention)},
	})
	return err
}

// AttributeError is a search attribute that the namespace cannot have; waiting does not help.
type AttributeError struct{ error }

func (s Server) addSearchAttributes(ctx context.Context, c client.Client) error {
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: s.Namespace,
	})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, kind := range s.SearchAttributes {
		want, err := enumspb.IndexedValueTypeFromString(kind)
		if err != nil {
			return AttributeError{fmt.Errorf("search attribute %s: %w", name, err)}
		}
		switch have, ok := listed.GetCustomAttributes()[name]; {
		case !ok:
			missing[name] = want
		case have != want:
			return AttributeError{
				fmt.Errorf("search attribute %s is a %s already and cannot become a %s", name, have, want),
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: s.Namespace, SearchAttributes: missing,
	}); err != nil {
		return err
	}
	return fmt.Errorf("the namespace %s lacks search attributes: %v", s.Namespace, slices.Sorted(maps.Keys(missing)))
}
