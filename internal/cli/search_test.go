package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"dateline/internal/embedded"
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
	r.wantOutput(r.run(0, nil, "reindex"), "Rebuilding the search index", workflows.ReindexArticlesID)
	c, err := client.Dial(client.Options{HostPort: at})
	r.Must(err)
	defer c.Close()
	if d, err := c.DescribeWorkflowExecution(t.Context(), workflows.ReindexArticlesID, ""); err != nil ||
		d.WorkflowExecutionInfo.Type.Name != "ReindexArticles" {
		t.Errorf("got %v, %v, want a workflow of the type ReindexArticles", d, err)
	}
	r.wantOutput(r.run(2, nil, "reindex", "now"), `"now" is unexpected`)
}
