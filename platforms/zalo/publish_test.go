package zalo_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
	"dateline/platforms/zalo"
)

// newsroom is the account desk, with the calls that editors make in OA Manager.
type newsroom struct {
	*testing.T

	server  *fake.Server
	adapter *zalo.Zalo
	account network.Account
	calls   *calls
}

// calls records the calls of the adapter, without reading ones.
type calls struct {
	http.RoundTripper

	mu   sync.Mutex
	sent []string
}

func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		c.mu.Lock()
		c.sent = append(c.sent, strings.TrimPrefix(r.URL.Path, "/zalo/v2.0")+" "+string(raw))
		c.mu.Unlock()
	}
	return c.RoundTripper.RoundTrip(r)
}

// to returns the bodies that were sent to a path.
func (c *calls) to(path string) (bodies []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.sent {
		if body, ok := strings.CutPrefix(one, path+" "); ok {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

func open(t *testing.T) newsroom { return openAs(t, "") }

func openAs(t *testing.T, kind string) newsroom {
	t.Helper()
	server, client := platformtest.StartFake(t, fake.Options{}), platformtest.Client(t)
	seen := &calls{RoundTripper: client.Transport}
	client.Transport = seen
	z := zalo.New(client, zalo.Options{
		Sandbox: server.NetworkURL("zalo"), CreateTimeout: 700 * time.Millisecond, Finish: finish,
		Process: 500 * time.Millisecond,
	})
	return newsroom{t, server, z, connect(t, server, z, fake.Account{Network: "zalo", Name: "desk", Kind: kind}), seen}
}

// edit makes a call as an editor does.
func (n newsroom) edit(path string, body map[string]any) {
	n.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		n.Fatal(err)
	}
	r, err := http.NewRequestWithContext(n.Context(), http.MethodPost, n.account.BaseURL+"/v2.0"+path,
		bytes.NewReader(raw))
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("access_token", n.account.Token.Reveal())
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Error != 0 {
		n.Fatalf("%s: got %+v %v, want success", path, out, err)
	}
}

func (n newsroom) inject(faults ...fake.Fault) {
	n.Helper()
	n.server.ClearFaults()
	for _, f := range faults {
		if err := n.server.Inject(f); err != nil {
			n.Fatal(err)
		}
	}
}

func lost(path string) fake.Fault {
	return fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPost, Path: path}
}

// submission has as many images as given, the first of which is the cover.
func (n newsroom) submission(text, options string, images int) network.Submission {
	n.Helper()
	s := network.Submission{Key: rand.Text(), Text: text}
	for range images {
		s.Media, s.MediaIDs = append(s.Media, platformtest.NewImage(n.T, "")), append(s.MediaIDs, "url")
	}
	if options != "" {
		parsed, problems := n.adapter.ParseOptions(json.RawMessage(options))
		if len(problems) > 0 {
			n.Fatalf("%+v", problems)
		}
		s.Options = parsed
	}
	return s
}

// prepare calls Prepare until it is ready, like delivery.
func (n newsroom) prepare(s network.Submission) (network.Submission, error) {
	for range 200 {
		ready, err := n.adapter.Prepare(n.Context(), n.account, s)
		if err != nil {
			return s, err
		}
		if s.Handle = ready.Handle; ready.Ready {
			return s, nil
		}
		time.Sleep(min(ready.CheckAfter, 20*time.Millisecond))
	}
	n.Fatal("Prepare is still not ready")
	return s, nil
}

func (n newsroom) prepared(s network.Submission) network.Submission {
	n.Helper()
	s, err := n.prepare(s)
	if err != nil {
		n.Fatal(err)
	}
	return s
}

func (n newsroom) publish(s network.Submission) (network.Receipt, error) {
	return n.adapter.Publish(n.Context(), n.account, s)
}

func (n newsroom) reconcile(s network.Submission) network.Finding {
	n.Helper()
	finding, err := n.adapter.Reconcile(n.Context(), n.account, s, network.Window{From: time.Now().Add(-time.Minute)})
	if err != nil {
		n.Fatal(err)
	}
	return finding
}

func (n newsroom) want(err error, class network.Class, code string) {
	n.Helper()
	if e := network.AsError(err); e == nil || e.Class != class || code != "" && e.Code != code {
		n.Errorf("got %v, want %s %s", err, class, code)
	}
}

// idOf returns the id in a handle.
func idOf(n newsroom, s network.Submission) string {
	n.Helper()
	var h struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(s.Handle), &h); err != nil || h.ID == "" {
		n.Fatalf("handle %s", s.Handle)
	}
	return h.ID
}

// The response to the call that creates the article is lost: it is found by the mark in its
// title, also in the list of old accounts, and no other one is created.
func TestPrepare_FindsTheArticleWhoseResponseWasLost(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		kind  string
		fault fake.Fault
		made  int
	}{
		"medias":      {"", lost(articles + "/create"), 1},
		"articles":    {"media", lost(articles + "/create"), 1},
		"no token":    {"", fake.Fault{Kind: fake.Malformed2xx, Path: articles + "/create"}, 1},
		"late":        {"", fake.Fault{Kind: fake.ActLate, Path: articles + "/create", For: finish / 2}, 1},
		"never acted": {"", fake.Fault{Kind: fake.ResetBefore, Method: http.MethodPost, Path: articles + "/create"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := openAs(t, row.kind)
			n.inject(row.fault)
			s, err := n.prepare(n.submission("Giá xăng tăng", "", 1))
			if row.made == 2 { // after it can no longer have been created
				n.want(err, network.Transient, network.CodeMediaExpired)
				s.Handle = ""
				s, err = n.prepare(s)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := len(n.calls.to("/article/create")); got != row.made {
				t.Errorf("%d calls to create, want %d", got, row.made)
			}
			if _, err := n.publish(s); err != nil {
				t.Fatal(err)
			}
			if posts := n.server.Posts(); len(posts) != 1 || posts[0].Text != "Giá xăng tăng" {
				t.Errorf("published %+v, want one without the mark", posts)
			}
		})
	}
}

// A handle that was stored before the process ended: the article may or may not exist.
func TestPrepare_AfterTheProcessEnded(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := n.submission("Giá xăng tăng", "", 1)
	first, err := n.adapter.Prepare(t.Context(), n.account, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Handle = first.Handle
	if _, err := n.adapter.Prepare(t.Context(), n.account, s); err != nil { // created, and the token is lost
		t.Fatal(err)
	}
	n.prepared(s)
	if got := n.calls.to("/article/create"); len(got) != 1 || !strings.Contains(got[0], `"status":"hide"`) {
		t.Errorf("created %v, want one hidden article", got)
	}
}

func TestPrepare_WaitsAndTriesAgain(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.inject(fake.Fault{Kind: fake.MediaFinished, Path: articles + "/create", For: 100 * time.Millisecond})
	s := n.prepared(n.submission("Giá xăng tăng", "", 1))
	if got := len(n.calls.to("/article/verify")); got < 2 {
		t.Errorf("%d calls to verify, want several", got)
	}
	if len(n.server.Posts()) != 0 {
		t.Error("it is published before its time")
	}
	n.inject(fake.Fault{Kind: fake.MediaError, Path: articles + "/create", For: time.Millisecond})
	s.Handle, s.Key = "", rand.Text()
	_, err := n.prepare(s)
	n.want(err, network.Transient, network.CodeMediaExpired)
	if e := network.AsError(err); !strings.Contains(e.Message, "Upload media failed") {
		t.Errorf("got %q, want what Zalo says", e.Message)
	}
	big := n.submission("Quá lớn", "", 1)
	big.Media[0].URL = nil
	_, err = n.prepare(big)
	n.want(err, network.Rejected, "not_fetchable")
}

func TestPrepare_ExplainsRefusals(t *testing.T) {
	t.Parallel()
	n := openAs(t, "basic")
	_, err := n.prepare(n.submission("Giá xăng tăng", "", 1))
	n.want(err, network.Rejected, "plan_too_low")
	for code, want := range map[int]network.Class{
		-32: network.Throttled, -201: network.Rejected, -211: network.Rejected, -213: network.Rejected,
		-204: network.Auth, -205: network.Auth, -216: network.Auth, -219: network.Auth, -220: network.Auth,
		-221: network.Rejected, -223: network.Auth,
	} {
		body, _ := json.Marshal(map[string]any{"error": code, "message": "No"})
		n.inject(fake.Fault{Kind: fake.Status, Status: 200, Path: articles + "/create", Body: string(body)})
		_, err := n.prepare(n.submission("Giá xăng tăng", "", 1))
		n.want(err, want, "")
	}
}

// Unknown codes may hide an error after Zalo acted, and quotes do not matter.
func TestPublish_ClassifiesCodes(t *testing.T) {
	t.Parallel()
	n := open(t)
	for body, want := range map[string]network.Class{
		`{"error":-100,"message":"Unknown error"}`:   network.Ambiguous,
		`{"error":"-100","message":"Unknown error"}`: network.Ambiguous,
		`{"error":500}`: network.Ambiguous,
		`{"error":0}`:   network.Ambiguous, // no token
		`{"code":500}`:  network.Ambiguous, // of something between here and Zalo
		`{"error":-201,"message":"Invalid token"}`:                       network.Auth,
		`{"error":-124,"message":"access_token đã hết hạn"}`:             network.Auth,
		`{"error":-201,"message":"body value is invalid"}`:               network.Rejected,
		`{"error":-201,"message":"Access token is invalid"}`:             network.Auth,
		`{"error":"-216","message":"Access token has expired"}`:          network.Auth,
		`{"error":-214,"message":"Article is being processed"}`:          network.Transient,
		`{"error":-224,"message":"OA needs to upgrade"}`:                 network.Rejected,
		`{"error":-32,"message":"Your app has exceeded the rate limit"}`: network.Throttled,
	} {
		s := n.prepared(n.submission("Giá xăng tăng", "", 1))
		n.inject(fake.Fault{Kind: fake.Status, Status: 200, Path: articles + "/update", Body: body})
		_, err := n.publish(s)
		if e := network.AsError(err); e == nil || e.Class != want {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

func TestPublish_SendsTheBodyInParts(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := n.prepared(n.submission("# Bão *số 9*\n\nGió **giật**.\n\n- Hà Nội\n- Huế\n\n<script>", "", 3))
	receipt, err := n.publish(s)
	if err != nil || len(receipt.Differences) > 0 || !strings.Contains(receipt.URL, "/zalo/d/") {
		t.Fatalf("%+v, %v", receipt, err)
	}
	var sent struct {
		ID, Type, Title, Author, Description, Status, Comment string
		Cover                                                 map[string]string
		Body                                                  []map[string]string
	}
	if err := json.Unmarshal([]byte(n.calls.to("/article/update")[0]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Title != "Bão số 9" || sent.Author != "DESK" || sent.Status != "show" || sent.Type != "normal" ||
		sent.Comment != "show" || sent.Description != "Gió giật. Hà Nội Huế <script>" || sent.Cover["cover_type"] != "photo" {
		t.Errorf("sent %+v", sent)
	}
	var texts []string
	for _, p := range sent.Body {
		texts = append(texts, p["type"]+p["content"])
	}
	want := []string{
		"text<p>Gió <strong>giật</strong>.</p>", "text<ul>\n<li>Hà Nội</li>\n<li>Huế</li>\n</ul>",
		"text<p>&lt;script&gt;</p>", "image", "image",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got the parts %q, want %q", texts, want)
	}
}

func TestPublish_CutsALongTitle(t *testing.T) {
	t.Parallel()
	n := open(t)
	line := strings.TrimSpace(strings.Repeat("Một câu rất dài, ", 10))
	if _, err := n.publish(n.prepared(n.submission(line, "", 1))); err != nil {
		t.Fatal(err)
	}
	title, _ := n.server.Posts()[0].Options["title"].(string)
	if len([]rune(title)) > 149 || !strings.HasSuffix(title, "…") || !strings.HasSuffix(n.server.Posts()[0].Text, line) {
		t.Errorf("got %q, want a short title and the whole line in the body", n.server.Posts()[0].Text)
	}
	for _, body := range append(n.calls.to("/article/create"), n.calls.to("/article/update")...) {
		var sent struct{ Title, Description string }
		if err := json.Unmarshal([]byte(body), &sent); err != nil || len([]rune(sent.Title)) > 149 ||
			len([]rune(sent.Description)) > 299 {
			t.Errorf("sent %+v %v", sent, err)
		}
	}
}

// What editors do in OA Manager before the time.
func TestPublish_LeavesWhatEditorsChanged(t *testing.T) {
	t.Parallel()
	n := open(t)
	full := func(id, title, status string) map[string]any {
		return map[string]any{
			"id": id, "type": "normal", "title": title, "author": "A", "description": "D", "status": status,
			"cover": map[string]string{
				"cover_type": "photo", "status": "show", "photo_url": n.server.URL() + "/media/1",
			}, "body": []map[string]string{{"type": "text", "content": "Văn bản"}},
		}
	}
	edited := n.prepared(n.submission("Sửa", "", 1))
	address, err := edited.Media[0].URL(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	change := func(id, title, status string) {
		body := full(id, title, status)
		body["cover"].(map[string]string)["photo_url"] = address
		n.edit("/article/update", body)
	}
	change(idOf(n, edited), "Tiêu đề của biên tập viên", "hide")
	_, err = n.publish(edited)
	n.want(err, network.Rejected, "edited_there")

	removed := n.prepared(n.submission("Xóa", "", 1))
	n.edit("/article/remove", map[string]any{"id": idOf(n, removed)})
	_, err = n.publish(removed)
	n.want(err, network.Rejected, "deleted_there")
	if finding := n.reconcile(removed); finding.Found || !finding.Conclusive {
		t.Errorf("removed: got %+v, want that it was not published", finding)
	}

	shown := n.prepared(n.submission("Hiện", "", 1))
	change(idOf(n, shown), "Hiện", "show")
	before := len(n.calls.to("/article/update"))
	receipt, err := n.publish(shown)
	if err != nil || receipt.RemoteID != idOf(n, shown) || len(n.calls.to("/article/update")) != before {
		t.Errorf("shown: got %+v, %v, want its receipt without another call", receipt, err)
	}
	if _, err := n.publish(network.Submission{Text: "Chưa"}); network.AsError(err).Code != "not_prepared" {
		t.Errorf("not prepared: %v", err)
	}
}

// Zalo works on the call that shows the article for longer than the call waits, or refuses
// an image then.
func TestPublish_WaitsForZalo(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := n.prepared(n.submission("Chậm", "", 1))
	n.inject(fake.Fault{Kind: fake.MediaFinished, Path: articles + "/update", For: 250 * time.Millisecond})
	if _, err := n.publish(s); err != nil {
		t.Errorf("slow: %v", err)
	}
	s = n.prepared(n.submission("Rất chậm", "", 1))
	n.inject(fake.Fault{Kind: fake.MediaFinished, Path: articles + "/update", For: 1500 * time.Millisecond})
	_, err := n.publish(s)
	n.want(err, network.Ambiguous, "")
	s = n.prepared(n.submission("Không có ảnh", "", 1))
	n.inject(fake.Fault{Kind: fake.MediaError, Path: articles + "/update", For: time.Millisecond})
	_, err = n.publish(s)
	n.want(err, network.Transient, "-200")
	if finding := n.reconcile(s); finding.Found || !finding.Conclusive {
		t.Errorf("got %+v, want that it was not published", finding)
	}
	n.inject()
	if _, err := n.publish(s); err != nil {
		t.Errorf("again: %v", err)
	}
}

// A broadcast is sent once: the call that shows the article is repeated, the one that sends
// it never is, and nobody claims to know whether a lost one was sent.
func TestPublish_BroadcastsOnce(t *testing.T) {
	t.Parallel()
	const kind = `{"kind":"broadcast"}`
	n := open(t)
	sent := func() int { return len(n.calls.to("/oa/message")) }

	s := n.prepared(n.submission("Một", kind, 1))
	if finding := n.reconcile(s); finding.Found || !finding.Conclusive {
		t.Errorf("hidden: got %+v, want that it was not sent", finding)
	}
	n.inject(fake.Fault{Kind: fake.ResetBefore, Method: http.MethodPost, Path: articles + "/update"})
	_, err := n.publish(s)
	n.want(err, network.Transient, "")
	if sent() != 0 {
		t.Fatal("it was sent before it was shown")
	}
	if receipt, err := n.publish(s); err != nil || receipt.RemoteID != idOf(n, s) || receipt.URL == "" {
		t.Errorf("got %+v, %v, want the article", receipt, err)
	}
	if want := `"target":{"gender":"0"}`; sent() != 1 || !strings.Contains(n.calls.to("/oa/message")[0], want) {
		t.Errorf("sent %v, want one with %s", n.calls.to("/oa/message"), want)
	}

	s = n.prepared(n.submission("Hai", kind, 1))
	n.inject(lost(messages))
	_, err = n.publish(s)
	n.want(err, network.Ambiguous, "")
	if finding := n.reconcile(s); finding.Found || finding.Conclusive || len(finding.Evidence) != 1 {
		t.Errorf("lost: got %+v, want that it is not known", finding)
	}
	if sent() != 2 {
		t.Errorf("%d calls, want 2", sent())
	}

	for body, want := range map[string]network.Class{
		`{"error":-211,"message":"Out of quota"}`:  network.Rejected,
		`{"error":-234,"message":"Not at night"}`:  network.Rejected,
		`{"error":-100,"message":"Unknown error"}`: network.Ambiguous,
		`{"error":-32,"message":"Too many"}`:       network.Throttled,
		`{"code":502,"msg":"Bad gateway"}`:         network.Ambiguous,
	} {
		s = n.prepared(n.submission("Ba", kind, 1))
		n.inject(fake.Fault{Kind: fake.Status, Status: 200, Path: messages, Body: body})
		_, err := n.publish(s)
		n.want(err, want, map[network.Class]string{network.Rejected: "broadcast_refused"}[want])
		if said := network.AsError(err).Message; want == network.Rejected &&
			!strings.HasSuffix(said, "Out of quota") && !strings.HasSuffix(said, "Not at night") {
			t.Errorf("got %q, want what Zalo says", said)
		}
	}
	preview := n.adapter.Preview(network.Content{Text: "Một", Options: s.Options}, n.adapter.DefaultLimits())
	if !slices.ContainsFunc(preview.Notes, func(note network.Note) bool { return note.Code == "broadcast_once" }) {
		t.Errorf("got the notes %+v, want a warning", preview.Notes)
	}
}

// The response to the call that shows an article is lost: it is sent once the article is
// shown, and the call is only repeated when it can no longer act.
func TestPublish_BroadcastsWhatALostCallShowed(t *testing.T) {
	t.Parallel()
	late := fake.Fault{Kind: fake.ActLate, Method: http.MethodPost, Path: articles + "/update", For: finish / 2}
	unreadable := fake.Fault{Kind: fake.Status, Status: 503, Path: articles + "/getdetail", Nth: 2, Count: -1}
	for name, row := range map[string]struct {
		faults []fake.Fault
		class  network.Class // "": it is sent
	}{
		"acted":      {[]fake.Fault{lost(articles + "/update")}, ""},
		"acts late":  {[]fake.Fault{late}, ""},
		"unreadable": {[]fake.Fault{lost(articles + "/update"), unreadable}, network.Ambiguous},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s := n.prepared(n.submission("Một", `{"kind":"broadcast"}`, 1))
			n.inject(row.faults...)
			_, err := n.publish(s)
			if e := network.AsError(err); e == nil && row.class != "" || e != nil && e.Class != row.class {
				t.Errorf("got %v, want %q", err, row.class)
			}
			want := map[bool]int{true: 1}[row.class == ""]
			if sent, shown := len(n.calls.to("/oa/message")), len(n.calls.to("/article/update")); sent != want || shown != 1 {
				t.Errorf("%d broadcasts and %d calls that show it, want %d and 1", sent, shown, want)
			}
		})
	}
}

// A worker that is suspended while the article is shown does not send it afterward: another
// one may have done so.
func TestPublish_BroadcastsNothingLate(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := n.prepared(n.submission("Một", `{"kind":"broadcast"}`, 1))
	n.adapter = zalo.New(&http.Client{Transport: n.calls}, zalo.Options{
		Sandbox: n.server.NetworkURL("zalo"), Finish: 50 * time.Millisecond,
	})
	n.inject(fake.Fault{Kind: fake.MediaFinished, Path: articles + "/update", For: 200 * time.Millisecond})
	_, err := n.publish(s)
	n.want(err, network.Ambiguous, "interrupted")
	if sent := n.calls.to("/oa/message"); len(sent) != 0 {
		t.Errorf("sent %v, want nothing", sent)
	}
	if finding := n.reconcile(s); finding.Found || finding.Conclusive {
		t.Errorf("got %+v, want that a person decides", finding)
	}
}

// A refused token is not an article that is gone.
func TestReconcile_ARefusedTokenProvesNothing(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := n.prepared(n.submission("Giá xăng tăng", "", 1))
	if _, err := n.publish(s); err != nil {
		t.Fatal(err)
	}
	n.inject(fake.Fault{
		Kind: fake.Status, Status: 200, Path: articles, Count: -1, Body: `{"error":-201,"message":"Invalid token"}`,
	})
	window := network.Window{From: time.Now().Add(-time.Minute)}
	finding, err := n.adapter.Reconcile(t.Context(), n.account, s, window)
	if n.want(err, network.Auth, ""); finding.Conclusive {
		t.Errorf("got %+v, want nothing conclusive", finding)
	}
	_, err = n.publish(s)
	n.want(err, network.Auth, "")
	n.want(n.adapter.Delete(t.Context(), n.account, idOf(n, s)), network.Auth, "")
}

// Zalo's messages can name the address of an image, whose query authorizes to read it.
func TestPrepare_RedactsAddresses(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.inject(fake.Fault{
		Kind: fake.Status, Status: 200, Path: articles + "/create",
		Body: `{"error":-200,"message":"Upload media failed: 'https://s3.example/a.png?X-Amz-Signature=c0ffee&b=1'"}`,
	})
	_, err := n.prepare(n.submission("Giá xăng tăng", "", 1))
	n.want(err, network.Rejected, "-200")
	if got, want := err.Error(), "https://s3.example/a.png'"; strings.Contains(got, "c0ffee") || !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want the address without its query", got)
	}
}

// An article that Zalo never finishes is made again.
func TestPrepare_GivesUpOnAnArticleThatIsNeverFinished(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.adapter = zalo.New(&http.Client{Transport: n.calls}, zalo.Options{
		Sandbox: n.server.NetworkURL("zalo"), Finish: finish, Process: 10 * time.Millisecond,
	})
	n.inject(fake.Fault{Kind: fake.MediaFinished, Path: articles + "/create", For: time.Hour})
	s, err := n.prepare(n.submission("Giá xăng tăng", "", 1))
	n.want(err, network.Transient, network.CodeMediaExpired)
	n.inject()
	s.Handle = ""
	n.prepared(s)
}

func TestPublish_CountsEmojiTwice(t *testing.T) {
	t.Parallel()
	n := open(t)
	if _, err := n.publish(n.prepared(n.submission(strings.Repeat("🔥", 140)+"\n"+strings.Repeat("😀", 290), "", 1))); err != nil {
		t.Error(err)
	}
	if got := n.calls.to("/article/create"); len(got) != 1 || strings.Contains(got[0], "\uFFFD") {
		t.Errorf("sent %q, want whole emoji", got)
	}
}

// A page with fewer articles than were asked for is not the last one.
func TestMeasure_ReadsUntilAnEmptyPage(t *testing.T) {
	t.Parallel()
	n := open(t)
	page := func(nth int, id string) fake.Fault {
		return fake.Fault{
			Kind: fake.Status, Status: 200, Path: articles + "/getslice", Nth: nth,
			Body: `{"error":0,"data":{"medias":[{"id":"` + id + `","total_view":"7"}]}}`,
		}
	}
	n.inject(page(1, "other"), page(2, "here"))
	posts := []network.PostRef{{RemoteID: "gone"}, {RemoteID: "here"}}
	got, err := n.adapter.Measure(t.Context(), n.account, network.MeasureRequest{Posts: posts})
	if err != nil || got.Posts["gone"].State != network.PostMissing ||
		got.Posts["here"].Values[network.MetricViews] != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAccounts_ShowPlanAndQuota(t *testing.T) {
	t.Parallel()
	n := open(t)
	want := "The plan is Nâng cao, with 1204 followers. Messages that are left: promotion 40/40."
	if got := n.account.Notes; len(got) != 1 || got[0].Text != want {
		t.Errorf("got %+v, want %s", got, want)
	}
	n.inject(fake.Fault{Kind: fake.Status, Status: 200, Path: "/zalo/v3.0", Body: `{"error":-202,"message":"No"}`})
	if found, err := n.adapter.Accounts(t.Context(), n.account); err != nil ||
		found[0].Notes[0].Text != "The plan is Nâng cao, with 1204 followers." {
		t.Errorf("without the permission: got %+v, %v", found, err)
	}
}

// Codes and refresh tokens work once; an unknown refusal does not disconnect the account.
func TestRefresh_TokensWorkOnce(t *testing.T) {
	t.Parallel()
	server, z, account, client := sandbox(t, fake.Options{AutoApprove: true})
	app, err := z.Register(t.Context(), account.BaseURL, redirectURI)
	if err != nil {
		t.Fatal(err)
	}
	const verifier, challenge = "abc", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
	code := approve(t, client, z.AuthorizeURL(app, "state", challenge)).Get("code")
	first, err := z.Exchange(t.Context(), app, code, verifier)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(first.TokenExpiresAt); left < 24*time.Hour || left > 25*time.Hour ||
		time.Until(first.RefreshTokenExpiresAt) < 89*24*time.Hour {
		t.Errorf("expires at %v and %v", first.TokenExpiresAt, first.RefreshTokenExpiresAt)
	}
	second, err := z.Refresh(t.Context(), app, first)
	if err != nil || second.RefreshToken.Reveal() == first.RefreshToken.Reveal() {
		t.Fatalf("refreshed as %+v, %v", second, err)
	}
	n := newsroom{T: t, server: server}
	_, err = z.Refresh(t.Context(), app, first)
	n.want(err, network.Auth, "")
	for body, want := range map[string]network.Class{
		`{"error":-14999,"error_name":"Something new"}`:             network.Transient,
		`{"error":-14004,"error_description":"Invalid secret key"}`: network.Rejected,
		`{"error":0}`: network.Ambiguous,
	} {
		n.inject(fake.Fault{Kind: fake.Status, Status: 200, Path: "/zalo/v4/oa/access_token", Body: body})
		_, err := z.Refresh(t.Context(), app, second)
		n.want(err, want, "")
	}
	n.inject()
	if _, err := z.Refresh(t.Context(), app, second); err != nil {
		t.Errorf("the pair that is valid: %v", err)
	}
	app.ClientSecret = secret.NewText("wrong")
	_, err = z.Refresh(t.Context(), app, second)
	n.want(err, network.Rejected, "bad_client")
	second.RefreshToken = secret.Text{}
	_, err = z.Refresh(t.Context(), app, second)
	n.want(err, network.Auth, "no_refresh_token")
	plain := zalo.New(client, zalo.Options{})
	_, err = plain.Register(t.Context(), "", redirectURI)
	n.want(err, network.Rejected, network.CodeNotConfigured)
	for _, bad := range []string{"https://zalo.me", account.BaseURL + "/"} {
		_, err := z.Register(t.Context(), bad, redirectURI)
		n.want(err, network.Rejected, "bad_address")
		_, err = z.Accounts(t.Context(), network.Account{BaseURL: bad})
		n.want(err, network.Rejected, "bad_address")
	}
}

// The fake refuses what Zalo was seen to refuse.
func TestFake_Refuses(t *testing.T) {
	t.Parallel()
	n := open(t)
	call := func(method, path string, body any) (code int, text string) {
		t.Helper()
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), method, n.account.BaseURL+path, bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("access_token", n.account.Token.Reveal())
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var out struct {
			Error   int    `json:"error"`
			Message string `json:"message"`
		}
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, res.Status, err)
		}
		return out.Error, out.Message
	}
	article := func(title, author, description string) map[string]any {
		return map[string]any{
			"type": "normal", "title": title, "author": author, "description": description,
			"cover": map[string]string{"cover_type": "photo", "photo_url": "http://127.0.0.1:1/", "status": "show"},
			"body":  []map[string]string{{"type": "text", "content": "Tin"}},
		}
	}
	for name, body := range map[string]map[string]any{
		"title":       article(strings.Repeat("ấ", 150), "A", "D"),
		"author":      article("T", strings.Repeat("a", 50), "D"),
		"description": article("T", "A", strings.Repeat("ấ", 300)),
	} {
		if code, text := call(http.MethodPost, "/v2.0/article/create", body); code != -201 ||
			!strings.HasPrefix(text, name) {
			t.Errorf("the longest %s that Zalo names: got %d %s, want -201", name, code, text)
		}
	}
	bare := article("T", "A", "D")
	delete(bare, "cover")
	if code, text := call(http.MethodPost, "/v2.0/article/create", bare); code != -201 || text != "cover value is invalid" {
		t.Errorf("no cover: got %d %s", code, text)
	}
	if code, _ := call(http.MethodPost, "/v2.0/article/create", article("T", "A", "D")); code != 0 {
		t.Errorf("an image that cannot be fetched: got %d, want a token all the same", code)
	}
	for path, want := range map[string]int{
		"?offset=0&limit=10&type=normal": 0, "?offset=0&limit=11&type=normal": -201, "?offset=0&limit=10": -201,
	} {
		if code, text := call(http.MethodGet, "/v2.0/article/getslice"+path, nil); code != want {
			t.Errorf("%s: got %d %s, want %d", path, code, text, want)
		}
	}
}
