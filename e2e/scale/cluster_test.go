package scale

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/cputime"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
)

var clusterPosts = flag.Int("cluster-posts", 0, "posts of one second on a Temporal cluster (make bench/cluster)")

const (
	clusterNodes    = 3
	clusterAPIs     = 2
	clusterWorkers  = 4
	clusterAccounts = 40
	// clusterLimit is how late the last post may be.
	clusterLimit = 30 * time.Second
	// clusterRate is how many posts are scheduled and prepared each second, at least.
	clusterRate = 15
)

// TestCluster publishes posts of one second on three nodes of Temporal, two api and four
// worker processes and a Redis Cluster, and kills a node and a worker in that second.
func TestCluster(t *testing.T) {
	if *clusterPosts == 0 {
		t.Skip("make bench/cluster runs this trial")
	}
	program := stack.Build(t, "scale", "")
	cluster := temporaltest.StartCluster(t, enginetest.PostgresPort(t), clusterNodes)
	redis := strings.Join(enginetest.RedisCluster(t).Options().Addrs, ",")
	s := stack.Open(t, stack.Engines{Temporal: cluster.Address, Redis: redis})
	s.Setup(program)
	var workers []*stack.Process
	for i := range clusterWorkers {
		workers = append(workers, s.Worker(fmt.Sprintf("worker %d", i), program))
	}
	for i := range clusterAPIs {
		s.API(fmt.Sprintf("api %d", i), program)
	}
	ids := connect(t, s, clusterAccounts)
	second := time.Now().Add(lead + time.Duration(*clusterPosts)*time.Second/clusterRate).Truncate(time.Second)
	due := func(int) time.Time { return second }
	before := cputime.Of(os.Getpid())
	schedule(t, s, *clusterPosts, ids, due)
	t.Logf("scheduled %s before they are due", time.Until(second).Round(time.Second))
	time.Sleep(time.Until(second.Add(100 * time.Millisecond)))
	cluster.Kill(clusterNodes - 1)
	workers[0].Kill()
	s.WantAllPosted()
	used := cputime.Of(os.Getpid()).Since(before)
	delete(used, "") // the client and the network
	late := wantEachOnce(t, s, *clusterPosts, due)
	last := time.Duration(late[len(late)-1]) * time.Millisecond
	if last > clusterLimit {
		t.Errorf("the last post was %s late, want at most %s", last, clusterLimit)
	}
	total, byName := used.PerUnit(*clusterPosts)
	raw, err := json.Marshal(map[string]any{
		"posts": *clusterPosts, "nodes": clusterNodes, "apis": clusterAPIs, "workers": clusterWorkers,
		"late_p50_ms": late[len(late)/2], "late_p99_ms": late[len(late)*99/100], "late_max_ms": last.Milliseconds(),
		"cpu_ms_per_post": tenths(total), "cpu_by_program": byName,
	})
	e2etest.Must(t, err)
	fmt.Println(string(raw))
}
