package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"dateline/internal/embedded"
	"dateline/internal/news/search/indexer"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// Beside a running `dateline up`, whose engines are not in the settings, reindex finds
// them in the data directory.
func TestReindex_NextToDatelineUp(t *testing.T) {
	r := openExternalEngines(t)
	set := map[string]string{}
	for _, one := range r.environ {
		name, value, _ := strings.Cut(one, "=")
		set[name] = value
	}
	r.environ = []string{"S3_BUCKET=dateline", "DATELINE_KEYSET=" + r.Keyset.Path, "DATELINE_DATA_DIR=" + r.dir}
	r.wantOutput(r.run(1, nil, "reindex"), "no `dateline up` is running with the data directory "+r.dir)

	at := temporaltest.Start(t)
	raw, err := json.Marshal(embedded.Endpoints{
		DatabaseURL: r.DatabaseURL, RedisURL: set["REDIS_URL"],
		TemporalAddress: at,
		S3Endpoint:      set["S3_ENDPOINT"], S3AccessKey: "test", S3SecretKey: "test",
	})
	r.Must(err)
	r.Must(os.MkdirAll(filepath.Join(r.dir, "run"), 0o700))
	r.Must(os.WriteFile(filepath.Join(r.dir, "run", "engines.json"), raw, 0o600))
	r.wantOutput(r.run(0, nil, "reindex", "--detach"), "Rebuilding the search index")
	c, err := client.Dial(client.Options{HostPort: at})
	r.Must(err)
	defer c.Close()
	if d, err := c.DescribeWorkflowExecution(t.Context(), workflows.ReindexArticlesID, ""); err != nil ||
		d.WorkflowExecutionInfo.Type.Name != "ReindexArticles" {
		t.Errorf("got %v, %v, want a workflow of the type ReindexArticles", d, err)
	}
	r.wantOutput(r.run(2, nil, "reindex", "now"), `"now" is unexpected`)
}

// fakeRebuilds returns one state after the other.
type fakeRebuilds struct {
	states  []indexer.Rebuild
	atEnd   func() // called with the last state
	cancels int
}

func (f *fakeRebuilds) Rebuild(context.Context) (indexer.Rebuild, error) {
	r := f.states[0]
	if len(f.states) > 1 {
		f.states = f.states[1:]
	} else if f.atEnd != nil {
		f.atEnd()
	}
	return r, nil
}

func (f *fakeRebuilds) RequestRebuild(context.Context) error { return nil }

func (f *fakeRebuilds) CancelRebuild(context.Context) error { f.cancels++; return nil }

func TestAwaitRebuild(t *testing.T) {
	pending, half := indexer.Rebuild{Status: indexer.RebuildPending}, indexer.Rebuild{
		Status: indexer.RebuildRunning, Done: 500, Total: 1000,
	}
	for name, c := range map[string]struct {
		states     []indexer.Rebuild
		interrupt  bool
		want, fail string
	}{
		"done": {
			states: []indexer.Rebuild{pending, half, {Status: indexer.RebuildDone, Done: 1000, Total: 1000}},
			want:   "The search index is rebuilt: 1,000 articles.\n",
		},
		"canceled in the dashboard": {
			states: []indexer.Rebuild{half, {Status: indexer.RebuildCanceled}}, fail: "was canceled by somebody else",
		},
		"Ctrl-C": {
			states: []indexer.Rebuild{pending, half}, interrupt: true,
			fail: "canceled: the search works as before (50% (500 of 1,000 articles))",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			store := &fakeRebuilds{states: c.states}
			if c.interrupt {
				store.atEnd = interrupt
			}
			var out bytes.Buffer
			err := (&Program{Stdout: &out}).awaitRebuild(ctx, &indexer.Rebuilds{Store: store}, nil)
			if out.String() != c.want || (err == nil) != (c.fail == "") ||
				err != nil && !strings.Contains(err.Error(), c.fail) {
				t.Errorf("got %q and %v, want %q and %q", out.String(), err, c.want, c.fail)
			}
			if (store.cancels == 1) != c.interrupt {
				t.Errorf("canceled %d times", store.cancels)
			}
		})
	}
}
