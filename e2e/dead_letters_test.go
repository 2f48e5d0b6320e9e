package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"dateline/platforms/fake"
	"dateline/workflows"
)

// TestPublish_ThreadsAndDeadLetters covers what an editor does when a network fails: an
// incomplete thread, a refused post, an expired token.
func TestPublish_ThreadsAndDeadLetters(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	account := n.connect(d, "desk")
	to := map[string]any{"accounts": []string{account}}
	const create = "/api/v1/statuses"
	fault := func(t *testing.T, f fake.Fault) {
		t.Helper()
		f.Method, f.Path = http.MethodPost, create
		if err := n.Inject(f); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("a thread resumes after a failure in its middle", func(t *testing.T) {
		d.t = t
		fault(t, fake.Fault{Kind: fake.ActThenReset, Nth: 2})
		p := d.schedule("one", 3*time.Second, map[string]any{
			"accounts": []string{account},
			"thread":   []map[string]any{{"content": "two"}, {"content": "three"}},
		})
		d.awaitStatus(p.ID, "posted", 90*time.Second)
		before := ""
		for _, text := range []string{"one", "two", "three"} {
			if c := n.copies(text); c != 1 {
				t.Fatalf("%q exists %d times", text, c)
			}
			for _, q := range n.Posts() {
				if q.Text == text {
					if q.ReplyTo != before {
						t.Errorf("%q replies to %q, want %q", text, q.ReplyTo, before)
					}
					before = q.ID
				}
			}
		}
	})

	t.Run("a refused post is parked, and an operator's signal retries it", func(t *testing.T) {
		d.t = t
		fault(t, fake.Fault{
			Kind: fake.Status, Status: http.StatusUnprocessableEntity,
			Body: `{"error":"Validation failed: no"}`,
		})
		p := d.schedule("refused at first", 3*time.Second, to)
		d.awaitStatus(p.ID, "failed", 90*time.Second)
		var dead struct {
			DeadLetters []struct {
				PostID, Reason string
			} `json:"dead_letters"`
		}
		var counts struct{ Total int }
		d.call(http.MethodGet, "/api/v1/dead-letters?reason=rejected", nil, &dead)
		d.call(http.MethodGet, "/api/v1/dead-letters/counts", nil, &counts)
		if len(dead.DeadLetters) != 1 || counts.Total != 1 {
			t.Fatalf("dead letters %+v, counts %+v", dead, counts)
		}
		temporal, err := client.Dial(client.Options{HostPort: d.Temporal})
		if err != nil {
			t.Fatal(err)
		}
		defer temporal.Close()
		if err := temporal.SignalWorkflow(context.Background(), p.WorkflowID, "", workflows.SignalRetry,
			nil); err != nil {
			t.Fatal(err)
		}
		d.awaitStatus(p.ID, "posted", 90*time.Second)
		if c := n.copies("refused at first"); c != 1 {
			t.Errorf("it exists %d times", c)
		}
	})

	t.Run("posts that failed because of an expired token are retried when the account is reconnected",
		func(t *testing.T) {
			d.t = t
			fault(t, fake.Fault{Kind: fake.TokenExpired, Count: 1})
			p := d.schedule("after reconnecting", 3*time.Second, to)
			d.awaitStatus(p.ID, "failed", 90*time.Second)
			if n.copies("after reconnecting") != 0 {
				t.Fatal("already published")
			}
			d.call(http.MethodPost, "/api/v1/accounts", map[string]string{
				"network": "mastodon", "base_url": n.URL(),
				"access_token": n.tokens["desk"],
			}, nil)
			d.awaitStatus(p.ID, "posted", 90*time.Second)
			if c := n.copies("after reconnecting"); c != 1 {
				t.Errorf("it exists %d times", c)
			}
		})

	t.Run("dead letters are discarded in bulk and stay unpublished", func(t *testing.T) {
		d.t = t
		fault(t, fake.Fault{
			Kind: fake.Status, Status: http.StatusUnprocessableEntity, Count: 2,
			Body: `{"error":"Validation failed: no"}`,
		})
		a, b := d.schedule("unwanted a", 3*time.Second, to), d.schedule("unwanted b", 3*time.Second, to)
		d.awaitStatus(a.ID, "failed", 90*time.Second)
		d.awaitStatus(b.ID, "failed", 90*time.Second)
		var done struct {
			Matched int
			Posts   []string
		}
		d.call(http.MethodPost, "/api/v1/dead-letters/discard", map[string]any{"all": true}, &done)
		if done.Matched != 2 || len(done.Posts) != 2 {
			t.Errorf("answered %+v", done)
		}
		d.awaitStatus(a.ID, "canceled", 10*time.Second)
		var why problem
		if status := d.call(http.MethodPost, "/api/v1/posts/"+a.ID+"/retry", map[string]any{},
			&why); status != http.StatusConflict || why.Code != "not_a_dead_letter" {
			t.Errorf("retrying a discarded post: %d %+v", status, why)
		}
		for _, q := range n.Posts() {
			if strings.HasPrefix(q.Text, "unwanted") {
				t.Errorf("%q is published", q.Text)
			}
		}
	})
}
