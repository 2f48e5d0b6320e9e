package temporaltest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/client"
)

// Cluster is a Temporal cluster of several processes on one Postgres, each on a loopback
// address of its own with all services.
type Cluster struct {
	Address string // of a proxy that connects to any node that is alive, as a load balancer does

	nodes []process
}

// clusterShards is the number of history shards, which the nodes share.
const clusterShards = 48

// StartCluster runs a cluster on an empty Postgres database for the duration of the test.
func StartCluster(t testing.TB, database string, nodes int) *Cluster {
	t.Helper()
	at := createStore(t, database)
	server := newServer(t)
	c := &Cluster{Address: server.Address()}
	ports := map[string]int{"frontend": freePort(t)}
	ip := func(node int) string { return fmt.Sprintf("127.0.0.%d", 11+node) }
	frontends := make([]string, nodes)
	for i := range frontends {
		frontends[i] = net.JoinHostPort(ip(i), strconv.Itoa(ports["frontend"]))
	}
	balance(t, c.Address, frontends)
	for i, frontend := range frontends {
		dir := t.TempDir()
		writeConfig(t, at, dir, nodeConfig{IP: ip(i), Shards: clusterShards, Ports: ports})
		c.nodes = append(c.nodes, runNode(t, dir, func(ctx context.Context) error {
			if i > 0 {
				return healthy(ctx, frontend)
			}
			return ready(ctx, server) // creates the namespace
		}))
	}
	return c
}

// Kill ends a node as a crash does.
func (c *Cluster) Kill(node int) { c.nodes[node].kill() }

func healthy(ctx context.Context, address string) error {
	c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: Namespace, Logger: quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// balance forwards connections to an address in turn to those that accept them.
func balance(t testing.TB, address string, targets []string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var turn atomic.Int64
	forward := func(from net.Conn) {
		defer func() { _ = from.Close() }()
		for range len(targets) {
			to, err := net.Dial("tcp", targets[int(turn.Add(1))%len(targets)])
			if err != nil {
				continue
			}
			defer func() { _ = to.Close() }()
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			_, _ = io.Copy(from, to)
			return
		}
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(from)
		}
	}()
}
