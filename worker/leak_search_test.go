package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"dateline/internal/publishing/account"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// shapes are the encodings in which a secret may appear in a text.
func shapes(s string) map[string]string {
	out := map[string]string{
		"plain": s, "URL-escaped": url.QueryEscape(s), "in hex": hex.EncodeToString([]byte(s)),
		"in upper-case hex": strings.ToUpper(hex.EncodeToString([]byte(s))),
	}
	// Base64 encodes a text differently at each of three offsets; characters that
	// depend on its neighbors are omitted.
	for shift := range 3 {
		padded := append(make([]byte, shift), s...)
		padded = padded[:len(padded)/3*3]
		for name, encoding := range map[string]*base64.Encoding{
			"base64":     base64.RawStdEncoding,
			"URL base64": base64.RawURLEncoding,
		} {
			text := encoding.EncodeToString(padded)
			out[name+" at "+string(rune('0'+shift))] = text[(shift*8+5)/6:]
		}
	}
	return out
}

func wantNoSecret(t *testing.T, where string, text []byte, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		for name, shape := range shapes(s) {
			if len(shape) >= 12 && bytes.Contains(text, []byte(shape)) {
				at := bytes.Index(text, []byte(shape))
				t.Errorf("%s: contains a secret %s, after %q", where, name, text[max(at-200, 0):at])
			}
		}
	}
}

// wantNowhere searches all stored data for every secret that the networks issued, for
// Dateline's own, and for the named ones. a has published, which must be found.
func (n *newsroomOfSecrets) wantNowhere(a account.Account, others ...string) {
	t := n.T.(*testing.T)
	t.Helper()
	secrets := append(n.Fake.Issued(), others...)
	raw, err := os.ReadFile(n.Keyset.Path)
	n.Must(err)
	var keyset struct {
		Key []struct{ KeyData struct{ Value string } }
	}
	n.Must(json.Unmarshal(raw, &keyset))
	for _, k := range keyset.Key {
		secrets = append(secrets, k.KeyData.Value)
	}
	if len(secrets) < 15 {
		t.Fatalf("only %d secrets were issued", len(secrets))
	}
	histories, workflowsSeen := n.histories(t)
	for _, want := range []string{
		workflows.PostWorkflow, workflows.RefreshTokenWorkflow,
		workflows.MaintainAccountsWorkflow,
	} {
		if !workflowsSeen[want] {
			t.Errorf("no %s ran", want)
		}
	}
	wantNoSecret(t, "histories", histories, secrets)
	wantNoSecret(t, "logs", n.log.all(), secrets)
	dump := n.dump(t)
	wantNoSecret(t, "database", dump, secrets)
	if log := n.log.all(); !bytes.Contains(log, []byte(a.ID.String())) || !bytes.Contains(dump, []byte(a.RemoteID)) ||
		!bytes.Contains(histories, []byte(a.ID.String())) {
		t.Error("the search found no data")
	}
	n.files(t, n.dir, secrets)
	n.files(t, n.ObjectsDir, secrets)
	wantNoSecret(t, "Redis", n.counters(t), secrets)
}

// counters returns every key of Redis with its value, as in a snapshot.
func (n *newsroomOfSecrets) counters(t *testing.T) (text []byte) {
	t.Helper()
	c := enginetest.RedisClient(t, n.RedisURL)
	// In compressed data a secret would not be found. Replacements of Redis compress
	// nothing and do not know this setting.
	_ = c.ConfigSet(t.Context(), "rdbcompression", "no").Err()
	keys := c.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		value, err := c.Dump(t.Context(), keys.Val()).Result()
		n.Must(err)
		text = append(append(append(text, keys.Val()...), value...), '\n')
	}
	n.Must(keys.Err())
	if len(text) == 0 {
		t.Error("Redis is empty")
	}
	return text
}

// histories returns every event of every workflow, with its payloads decoded.
func (n *newsroomOfSecrets) histories(t *testing.T) (text []byte, seen map[string]bool) {
	t.Helper()
	c, seen := n.starter.Client, map[string]bool{}
	var page []byte
	for {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: temporaltest.Namespace, NextPageToken: page,
		})
		n.Must(err)
		for _, e := range list.GetExecutions() {
			seen[e.GetType().GetName()] = true
			described, err := protojson.Marshal(e)
			n.Must(err)
			text = append(text, described...)
			events := c.GetWorkflowHistory(t.Context(), e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(),
				false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				n.Must(err)
				line, err := protojson.Marshal(event)
				n.Must(err)
				text = append(append(text, line...), decoded(t, line)...)
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return text, seen
		}
	}
}

// decoded returns the data of payloads, which protobuf's JSON shows in base64.
func decoded(t *testing.T, line []byte) (out []byte) {
	t.Helper()
	var document any
	if err := json.Unmarshal(line, &document); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if text, ok := value.(string); ok && key == "data" {
					if data, err := base64.StdEncoding.DecodeString(text); err == nil {
						out = append(append(out, data...), '\n')
					}
				}
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(document)
	return out
}

// dump returns every row of every table as text, as pg_dump would write it.
func (n *newsroomOfSecrets) dump(t *testing.T) (text []byte) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), n.DatabaseURL)
	n.Must(err)
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	read := func(sql string) []string {
		rows, err := c.Query(t.Context(), sql)
		n.Must(err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		n.Must(err)
		return lines
	}
	for _, table := range read("select quote_ident(table_name) from information_schema.tables where table_schema " +
		"= 'public'") {
		for _, line := range read("select t::text from " + table + " t") {
			text = append(append(text, line...), '\n')
		}
	}
	return text
}

// files reads an engine's data directory.
func (n *newsroomOfSecrets) files(t *testing.T, dir string, secrets []string) {
	t.Helper()
	files := 0
	n.Must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		wantNoSecret(t, filepath.Base(path), raw, secrets)
		return nil
	}))
	if files == 0 {
		t.Errorf("%s is empty", dir)
	}
}

func TestSecrets_SearchFindsAnUnsealedSecret(t *testing.T) {
	const s = "Zm9v+bar/7Qq secret-of-a-network"
	for _, before := range []string{"", "a", "ab", "abc"} {
		text := before + s + "tail"
		for name, encoded := range map[string]string{
			"plain":      text,
			"base64":     base64.StdEncoding.EncodeToString([]byte(text)),
			"URL base64": base64.URLEncoding.EncodeToString([]byte(text)), "URL": url.QueryEscape(text),
			"hex": hex.EncodeToString([]byte(text)),
		} {
			found := false
			for _, shape := range shapes(s) {
				found = found || strings.Contains(encoded, shape)
			}
			if !found {
				t.Errorf("%s after %q is not found", name, before)
			}
		}
	}
}
