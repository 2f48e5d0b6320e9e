package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisCluster returns a client of an empty Redis Cluster for the test: three masters
// on loopback.
func RedisCluster(t testing.TB) *redis.ClusterClient {
	t.Helper()
	NeedEngines(t)
	program := RedisProgram(t)
	var addrs []string
	for len(addrs) < 3 {
		addr, err := clusterNode(t, program)
		if errors.Is(err, errPortTaken) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, addr)
	}
	if err := joinCluster(t.Context(), addrs); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { _ = client.Close() })
	if err := awaitCluster(t.Context(), addrs); err != nil {
		t.Fatal(err)
	}
	return client
}

var errPortTaken = errors.New("the port was taken by another process")

// clusterNode starts a node. Cluster nodes need ports, one for clients and one for the
// cluster bus, so another process may take them first.
func clusterNode(t testing.TB, program string) (string, error) {
	port, bus, err := twoPorts()
	if err != nil {
		return "", err
	}
	dir := shortTempDir(t)
	server, err := startChild(syscall.SIGKILL, nil, dir, program, "--port", strconv.Itoa(port), "--cluster-port",
		strconv.Itoa(bus),
		"--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(dir, "nodes.conf"),
		"--save", "", "--appendonly", "no", "--dir", dir)
	if err != nil {
		return "", err
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer client.Close()
	err = server.await(func() error { return ownNode(t.Context(), client, dir) })
	if err != nil {
		if strings.Contains(err.Error(), "ended at once") {
			return "", fmt.Errorf("%w: %w", errPortTaken, err)
		}
		return "", err
	}
	t.Cleanup(func() { server.stop(syscall.SIGKILL) })
	return addr, nil
}

// ownNode reports whether the Redis at this address is the one that was started.
func ownNode(ctx context.Context, client *redis.Client, dir string) error {
	got, err := client.ConfigGet(ctx, "dir").Result()
	if err == nil && got["dir"] != dir {
		err = errPortTaken
	}
	return err
}

// twoPorts finds ports that are free now.
func twoPorts() (int, int, error) {
	var ports [2]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, 0, err
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1], nil
}

const slots = 16384

// joinCluster assigns the slots and introduces the nodes to the first one.
func joinCluster(ctx context.Context, addrs []string) error {
	for i, addr := range addrs {
		node := redis.NewClient(&redis.Options{Addr: addr})
		defer node.Close()
		from, to := i*slots/len(addrs), (i+1)*slots/len(addrs)-1
		if err := node.ClusterAddSlotsRange(ctx, from, to).Err(); err != nil {
			return err
		}
		// Nodes with the same epoch would have to resolve the conflict first.
		if err := node.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		first := redis.NewClient(&redis.Options{Addr: addrs[0]})
		defer first.Close()
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return err
		}
		bus, err := busPort(ctx, node)
		if err != nil {
			return err
		}
		if err := first.Do(ctx, "cluster", "meet", host, port, bus).Err(); err != nil {
			return err
		}
	}
	return nil
}

func busPort(ctx context.Context, node *redis.Client) (string, error) {
	got, err := node.ConfigGet(ctx, "cluster-port").Result()
	return got["cluster-port"], err
}

// awaitCluster waits until every node knows all the others.
func awaitCluster(ctx context.Context, addrs []string) error {
	for _, addr := range addrs {
		node := redis.NewClient(&redis.Options{Addr: addr})
		defer node.Close()
		for deadline := time.Now().Add(time.Minute); ; {
			info, err := node.ClusterInfo(ctx).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(addrs))) {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the cluster does not come up: %s (%w)", info, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}
