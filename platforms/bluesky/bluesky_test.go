package bluesky_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/bluesky"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func startFake(t *testing.T, options fake.Options) *fake.Server {
	t.Helper()
	server := platformtest.StartFake(t, options)
	for _, name := range []string{"desk", "newsroom"} {
		if _, err := server.Add(fake.Account{Network: "bluesky", Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	return server
}

func newClient(t *testing.T) *http.Client {
	t.Helper()
	// dev-env's directory names localhost.
	client, err := call.NewClient([]string{"127.0.0.0/8", "::1/128"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// sandbox returns an adapter for a fake, and connects the account desk.
func sandbox(
	t *testing.T, server *fake.Server, options bluesky.Options,
) (*bluesky.Bluesky, network.Account, *http.Client) {
	t.Helper()
	client := newClient(t)
	options.Sandbox = server.URL() + "/bluesky"
	if options.CreateTimeout == 0 {
		options.CreateTimeout = 700 * time.Millisecond
	}
	b := bluesky.New(client, options)
	return b, connect(t, b, options.Sandbox, "desk.test", fake.BlueskyAppPassword, ""), client
}

func connect(t *testing.T, b *bluesky.Bluesky, base, handle, password, server string) network.Account {
	t.Helper()
	found, err := b.ConnectForm(t.Context(), base, form(handle, password, server))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d accounts, %v", len(found), err)
	}
	return found[0]
}

func form(handle, password, server string) map[string]secret.Text {
	values := map[string]secret.Text{"handle": secret.NewText(handle), "app_password": secret.NewText(password)}
	if server != "" {
		values["pds"] = secret.NewText(server)
	}
	return values
}

func subject(t *testing.T, b *bluesky.Bluesky, client *http.Client, account network.Account) platformtest.Subject {
	limits, err := b.Limits(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return platformtest.Subject{
		Network: b, Account: account, Client: client, Limits: limits, Counts: counts(t),
		CreatePath:    "/bluesky/xrpc/com.atproto.repo.createRecord",
		FindsByHandle: true, UnboundedSearch: true, PublicReads: true, NoRequestID: true, NewProcessedMedia: video,
	}
}

func TestConformance(t *testing.T) {
	server := startFake(t, fake.Options{MediaDelay: 10 * time.Millisecond})
	b, account, client := sandbox(t, server, bluesky.Options{})
	s := subject(t, b, client, account)
	s.Fake, s.ReportsRates, s.Metrics = server, true, metricCases()
	s.Options = optionCases(publishQuoted(t, b, account))
	s.Compared = compared()
	platformtest.Run(t, s)
}

// publishQuoted publishes a post for others to quote, and returns its URL.
func publishQuoted(t *testing.T, b *bluesky.Bluesky, account network.Account) string {
	t.Helper()
	submission := network.Submission{Key: "quoted", Text: "A post to quote"}
	prepared, err := b.Prepare(t.Context(), account, submission)
	if err != nil {
		t.Fatal(err)
	}
	submission.Handle = prepared.Handle
	receipt, err := b.Publish(t.Context(), account, submission)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.RemoteID
}

// serveAtRoot is a proxy for a fake that serves it at the root of its address, like a
// server outside of the sandbox.
func serveAtRoot(t *testing.T, server *fake.Server) string {
	t.Helper()
	target, err := url.Parse(server.URL() + "/bluesky")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	t.Cleanup(front.Close)
	return front.URL
}

// publish prepares and publishes.
func publish(
	t *testing.T, b *bluesky.Bluesky, account network.Account, sub network.Submission,
) (network.Receipt, network.Submission) {
	t.Helper()
	sub = prepare(t, b, account, sub)
	receipt, err := b.Publish(t.Context(), account, sub)
	if err != nil {
		t.Fatal(err)
	}
	return receipt, sub
}

func prepare(t *testing.T, b *bluesky.Bluesky, account network.Account, sub network.Submission) network.Submission {
	t.Helper()
	ready, err := b.Prepare(t.Context(), account, sub)
	if err != nil || !ready.Ready {
		t.Fatalf("prepared %+v, %v", ready, err)
	}
	sub.Handle = ready.Handle
	return sub
}

// record is a post as read with a plain call, without the adapter.
type record struct {
	URI   string `json:"uri"`
	CID   string `json:"cid"`
	Value struct {
		Text      string   `json:"text"`
		CreatedAt string   `json:"createdAt"`
		Langs     []string `json:"langs"`
		Facets    []struct {
			Index    struct{ ByteStart, ByteEnd int }
			Features []struct {
				Type          string `json:"$type"`
				URI, DID, Tag string
			}
		}
		Reply *struct {
			Root, Parent struct{ URI, CID string }
		}
		Embed json.RawMessage `json:"embed"`
	} `json:"value"`
}

func read(t *testing.T, base, uri string) record {
	t.Helper()
	parts := strings.Split(strings.TrimPrefix(uri, "at://"), "/")
	if len(parts) != 3 {
		t.Fatalf("%s is no address of a record", uri)
	}
	var r record
	status := get(t, base+"/xrpc/com.atproto.repo.getRecord?repo="+parts[0]+"&collection="+parts[1]+"&rkey="+parts[2],
		&r)
	if status != http.StatusOK {
		t.Fatalf("read %s: status %d", uri, status)
	}
	return r
}

func get(t *testing.T, address string, into any) int {
	t.Helper()
	res, err := http.Get(address) //nolint:gosec // an address of the test's own
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, res, into)
}

func decode(t *testing.T, res *http.Response, into any) int {
	t.Helper()
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", res.Status, err, body)
	}
	return res.StatusCode
}

// video returns a file that starts like an MP4, which is all that is checked
// here.
func video(*testing.T) network.Media {
	data := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte{7}, 2000)...)
	return network.Media{
		MediaInfo: network.MediaInfo{
			MIMEType: "video/mp4", Bytes: int64(len(data)), Width: 320, Height: 180,
			Duration: time.Second, AltText: "Một đoạn phim",
		},
		FileName: "phim 1.mp4",
		Open:     func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func counts(t *testing.T) []platformtest.Count {
	t.Helper()
	var rows []platformtest.Count
	readJSON(t, "testdata/counts.json", &rows)
	return rows
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// metricCases are the metrics that the fake network reports.
func metricCases() []platformtest.MetricCase {
	return []platformtest.MetricCase{
		{Metric: network.MetricLikes, Name: "likeCount"},
		{Metric: network.MetricReplies, Name: "replyCount"},
		{Metric: network.MetricReposts, Name: "repostCount"},
		{Metric: network.MetricQuotes, Name: "quoteCount"},
		{Metric: network.MetricSaves, Name: "bookmarkCount"},
	}
}
