package ratelimit_test

import (
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/network"
)

// acquireScript requests tokens of one bucket with acquire.lua like a process with many
// waiting posts. It returns the number of tokens, the delay until the next one, and the
// remainder.
func acquireScript(
	t *testing.T, client *redis.Client, want int, bucket ...any,
) (granted int64, wait time.Duration, left int64) {
	t.Helper()
	source, err := os.ReadFile("acquire.lua")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := redis.NewScript(string(source)).Run(t.Context(), client, []string{"bucket"},
		append([]any{want}, bucket...)...).Int64Slice()
	if err != nil {
		t.Fatal(err)
	}
	return answer[0], time.Duration(answer[1]) * time.Millisecond, answer[5]
}

// A process with a thousand waiting posts sends no more probes than one with a few.
func TestAcquireScript_LimitsProbesAfterARefusal(t *testing.T) {
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for _, want := range []int{1, 3, 4, 1000} {
		if err := client.HSet(t.Context(), "bucket", "refused", 1, "refused_at", 1, "closed", 0).Err(); err != nil {
			t.Fatal(err)
		}
		granted, wait, _ := acquireScript(t, client, want, 1, 300, 3600000, "none")
		if granted != int64(min(want, 3)) {
			t.Errorf("%d posts: got %d probes, want %d", want, granted, min(want, 3))
		}
		if want > 3 && (wait < 4*time.Second || wait > 6*time.Second) {
			t.Errorf("%d posts: the next probe in %s, want 5s", want, wait)
		}
		if again, _, _ := acquireScript(t, client, want, 1, 300, 3600000, "none"); again != 0 {
			t.Errorf("%d posts: got %d more while the probes are in flight, want 0", want, again)
		}
	}
}

func TestAcquireScript_CountsTheRemainder(t *testing.T) {
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for _, want := range []int64{7, 4, 1} {
		if granted, _, left := acquireScript(t, client, 3, 1, 10, 3600000, "gcra"); granted != 3 || left != want {
			t.Errorf("got %d tokens, %d left, want 3, %d left", granted, left, want)
		}
	}
	if granted, _, left := acquireScript(t, client, 3, 1, 10, 3600000, "gcra"); granted != 1 || left != 0 {
		t.Errorf("the last: got %d tokens, %d left, want 1, 0 left", granted, left)
	}
}

// A report without a reset may only lower the counted remainder.
func TestObserve_AReportWithoutAResetTightens(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(account("posts", 10, time.Hour))
		for range 3 {
			take(t, l, c)
		}
		for _, row := range []struct{ reported, want int }{{8, 7}, {2, 2}, {9, 2}} {
			l.Observe(t.Context(), c, network.CallPublish,
				[]network.RateStatus{{
					Bucket: "posts", Scope: network.ScopeAccount, Limit: 10,
					Remaining: row.reported,
				}}, nil)
			if got := bucketOf(t, l, c, "posts", network.ScopeAccount).Remaining; got != row.want {
				t.Errorf("the network reports %d: got %d left, want %d", row.reported, got, row.want)
			}
		}
	})
}
