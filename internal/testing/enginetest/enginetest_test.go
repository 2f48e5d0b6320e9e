package enginetest_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"dateline/internal/identity/workspace"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestEveryStoreIsADatabaseOfItsOwn(t *testing.T) {
	first, second := storetest.Open(t), storetest.Open(t)
	user := uuid.Must(uuid.NewV7())
	w := workspace.Workspace{ID: uuid.Must(uuid.NewV7()), Name: "Desk", TimeZone: "UTC"}
	token, _ := workspace.NewToken(w.ID, user, "cli")
	if err := first.Identity.Workspaces.Found(t.Context(), w, "Ann", token); err != nil {
		t.Fatal(err)
	}
	if _, _, found, err := second.Identity.Workspaces.FirstWorkspace(t.Context()); err != nil || found {
		t.Errorf("the second database has the first one's workspace (%v, %v)", found, err)
	}
}

func TestManyTestsMayAskAtOnce(t *testing.T) {
	var urls sync.Map
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			url := enginetest.Postgres(t)
			if _, taken := urls.LoadOrStore(url, true); taken {
				t.Errorf("%s was returned twice", url)
			}
			connection, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			var tables int
			if err := connection.QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = 'public'").
				Scan(&tables); err != nil || tables != 0 {
				t.Errorf("the database has %d tables (%v), want none", tables, err)
			}
			_ = connection.Close(t.Context())
		})
	}
	all.Wait()
}

func TestRedisAnswersUntilItIsStopped(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	client := enginetest.RedisClient(t, url)
	if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("Redis still responds")
	}
}

func TestRedisClusterHasThreeMasters(t *testing.T) {
	client := enginetest.RedisCluster(t)
	var masters atomic.Int64
	err := client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		masters.Add(1)
		return node.Ping(ctx).Err()
	})
	if err != nil || masters.Load() != 3 {
		t.Errorf("%d masters (%v), want 3", masters.Load(), err)
	}
	for n := range 100 { // of all nodes
		if err := client.Set(t.Context(), strconv.Itoa(n), n, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDurableRedisSurvives(t *testing.T) {
	server := enginetest.NewDurableRedis(t, "always")
	client := enginetest.RedisClient(t, server.URL)
	if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Start()
	if got, err := client.Get(t.Context(), "key").Result(); err != nil || got != "value" {
		t.Errorf("%q (%v) after the crash", got, err)
	}
}
