package wordpress_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/wordpress"
)

// newsroom is an account of the fake site, with the calls that editors make there.
type newsroom struct {
	*testing.T

	server  *fake.Server
	adapter *wordpress.WordPress
	account network.Account
}

func open(t *testing.T) newsroom {
	t.Helper()
	server := startFake(t, fake.Options{})
	w, account, _ := sandbox(t, server)
	return newsroom{t, server, w, account}
}

// edit makes a call to the site as its user.
func (n newsroom) edit(method, path string, body map[string]any) map[string]any {
	n.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		n.Fatal(err)
	}
	r, err := http.NewRequestWithContext(n.Context(), method, n.server.NetworkURL("wordpress")+"/wp-json/wp/v2"+path,
		bytes.NewReader(raw))
	if err != nil {
		n.Fatal(err)
	}
	user, password, _ := strings.Cut(n.account.Token.Reveal(), ":")
	r.SetBasicAuth(user, password)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode > 299 {
		n.Fatalf("%s %s: %s %v %v", method, path, res.Status, out, err)
	}
	return out
}

// prepare calls Prepare until it is ready, like delivery.
func (n newsroom) prepare(s network.Submission) (network.Submission, error) {
	for range 100 {
		ready, err := n.adapter.Prepare(n.Context(), n.account, s)
		if err != nil {
			return s, err
		}
		if s.Handle = ready.Handle; ready.Ready {
			return s, nil
		}
		time.Sleep(min(ready.CheckAfter, 50*time.Millisecond))
	}
	return s, fmt.Errorf("never ready: %s", s.Handle)
}

func (n newsroom) draft(s network.Submission) (network.Submission, string) {
	n.Helper()
	s, err := n.prepare(s)
	if err != nil {
		n.Fatal(err)
	}
	var h struct{ ID int64 }
	if err := json.Unmarshal([]byte(s.Handle), &h); err != nil || h.ID == 0 {
		n.Fatalf("handle %s: %v", s.Handle, err)
	}
	return s, fmt.Sprint(h.ID)
}

func (n newsroom) publish(s network.Submission) (network.Receipt, *network.Error) {
	receipt, err := n.adapter.Publish(n.Context(), n.account, s)
	return receipt, network.AsError(err)
}

// public counts the articles that readers see.
func (n newsroom) public() int {
	return len(slices.DeleteFunc(n.server.Posts(), func(p fake.Post) bool { return p.Deleted }))
}

// What an editor does between Prepare and Publish is respected.
func TestPublish_RespectsEditors(t *testing.T) {
	t.Parallel()
	later := time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05")
	for name, row := range map[string]struct {
		edit   func(newsroom, string)
		code   string // empty: posted
		public int
	}{
		"edited the text":  {func(n newsroom, id string) { n.edit("POST", "/posts/"+id, map[string]any{"content": "Sửa"}) }, "edited_there", 0},
		"edited the title": {func(n newsroom, id string) { n.edit("POST", "/posts/"+id, map[string]any{"title": "Sửa"}) }, "edited_there", 0},
		"pending review":   {func(n newsroom, id string) { n.edit("POST", "/posts/"+id, map[string]any{"status": "pending"}) }, "edited_there", 0},
		"private":          {func(n newsroom, id string) { n.edit("POST", "/posts/"+id, map[string]any{"status": "private"}) }, "edited_there", 1},
		"trashed":          {func(n newsroom, id string) { n.edit("DELETE", "/posts/"+id, nil) }, "deleted_there", 0},
		"scheduled": {func(n newsroom, id string) {
			n.edit("POST", "/posts/"+id, map[string]any{"status": "future", "date_gmt": later})
		}, "scheduled_there", 0},
		"published":      {func(n newsroom, id string) { n.edit("POST", "/posts/"+id, map[string]any{"status": "publish"}) }, "", 1},
		"only looked at": {func(n newsroom, id string) { n.edit("GET", "/posts/"+id+"?context=edit", nil) }, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng\n\nTăng"})
			row.edit(n, id)
			receipt, e := n.publish(s)
			switch {
			case row.code == "" && (e != nil || receipt.RemoteID != id):
				t.Errorf("got %+v, %v, want the article %s", receipt, e, id)
			case row.code != "" && (e == nil || e.Code != row.code || e.Class != network.Rejected || e.Message == ""):
				t.Errorf("got %v, want rejected with %s", e, row.code)
			}
			if n.public() != row.public {
				t.Errorf("got %d articles, want %d", n.public(), row.public)
			}
			finding, err := n.adapter.Reconcile(t.Context(), n.account, s, network.Window{})
			if err != nil || finding.Found != (row.code == "") || !finding.Conclusive {
				t.Errorf("got %+v, %v, want found %v", finding, err, row.code == "")
			}
		})
	}
}

// A second send takes nothing out of the trash, as repeating the call would.
func TestPublish_DoesNotRestoreADeletedArticle(t *testing.T) {
	t.Parallel()
	n := open(t)
	s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
	if _, e := n.publish(s); e != nil {
		t.Fatal(e)
	}
	n.edit("DELETE", "/posts/"+id, nil)
	if _, e := n.publish(s); e == nil || e.Code != "deleted_there" {
		t.Errorf("got %v, want deleted_there", e)
	}
	if n.public() != 0 {
		t.Errorf("got %d articles, want none", n.public())
	}
	// The server itself would have: this is what is guarded against.
	if n.edit("POST", "/posts/"+id, map[string]any{"status": "publish"}); n.public() != 1 {
		t.Errorf("the fake has %d articles after a repeated call, want 1", n.public())
	}
}

// A lost response to the draft never makes a second one, however late the server acts.
func TestPrepare_LostResponses(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]fake.Fault{
		"acted":          {{Kind: fake.ActThenReset}},
		"acted, 500":     {{Kind: fake.ActThen500}},
		"acted, hung":    {{Kind: fake.ActThenHang}},
		"cut":            {{Kind: fake.Malformed2xx}},
		"acts late":      {{Kind: fake.ActLate, For: 200 * time.Millisecond}},
		"acts very late": {{Kind: fake.ActLate, For: finish - 100*time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			for _, f := range faults {
				f.Method, f.Path = http.MethodPost, "/wordpress/wp-json/wp/v2/posts"
				if err := n.server.Inject(f); err != nil {
					t.Fatal(err)
				}
			}
			s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
			if receipt, e := n.publish(s); e != nil || receipt.RemoteID != id {
				t.Errorf("got %+v, %v", receipt, e)
			}
			if drafts := n.drafts(s); len(drafts) != 1 {
				t.Errorf("got the drafts %v, want one", drafts)
			}
		})
	}
	t.Run("did not act", func(t *testing.T) {
		t.Parallel()
		n := open(t)
		if err := n.server.Inject(fake.Fault{Kind: fake.ResetBefore, Method: http.MethodPost}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err := n.prepare(network.Submission{Key: "k", Text: "Giá xăng"})
		if e := network.AsError(err); e == nil || e.Class != network.Transient || e.Code != network.CodeMediaExpired ||
			time.Since(begun) < finish {
			t.Errorf("got %v after %v, want that the draft is made again after %v", e, time.Since(begun), finish)
		}
		s, _ := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
		if drafts := n.drafts(s); len(drafts) != 1 {
			t.Errorf("got the drafts %v, want one", drafts)
		}
	})
}

// drafts returns the ids of all posts of an operation that are not in the trash.
func (n newsroom) drafts(s network.Submission) []string {
	n.Helper()
	var h struct{ Slug string }
	if err := json.Unmarshal([]byte(s.Handle), &h); err != nil {
		n.Fatal(err)
	}
	r, err := http.NewRequestWithContext(n.Context(), http.MethodGet, n.server.NetworkURL("wordpress")+
		"/wp-json/wp/v2/posts?status=any&context=edit&slug="+h.Slug+","+h.Slug+"-2,"+h.Slug+"-3", nil)
	if err != nil {
		n.Fatal(err)
	}
	user, password, _ := strings.Cut(n.account.Token.Reveal(), ":")
	r.SetBasicAuth(user, password)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var list []struct {
		ID   uint64
		Slug string
	}
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		n.Fatal(err)
	}
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprint(p.ID, " ", p.Slug))
	}
	return out
}

// A process that was killed while it created the draft leaves a handle behind. The next one
// uses the draft if it exists, also if it appears later, and otherwise waits before it
// creates one.
func TestPrepare_AfterAKill(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fault *fake.Fault
		again bool
	}{
		"before the call": {nil, true},
		"after the call":  {&fake.Fault{Kind: fake.Latency, For: time.Millisecond}, false},
		"acts late":       {&fake.Fault{Kind: fake.ActLate, For: 300 * time.Millisecond}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s := network.Submission{Key: "k", Text: "Giá xăng"}
			noted, err := n.adapter.Prepare(t.Context(), n.account, s)
			if err != nil || noted.Ready {
				t.Fatalf("got %+v, %v, want a handle before anything is sent", noted, err)
			}
			s.Handle = noted.Handle
			if row.fault != nil {
				row.fault.Method = http.MethodPost
				if err := n.server.Inject(*row.fault); err != nil {
					t.Fatal(err)
				}
				_, _ = n.adapter.Prepare(t.Context(), n.account, s) // its result is lost
			}
			n.adapter, _, _ = sandbox(t, n.server)
			s, err = n.prepare(s)
			if again := network.AsError(err) != nil; again != row.again {
				t.Fatalf("got %v, want another attempt: %v", err, row.again)
			}
			if row.again {
				s, _ = n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
			}
			if drafts := n.drafts(s); len(drafts) != 1 {
				t.Errorf("got the drafts %v, want one", drafts)
			}
		})
	}
}

// Of several drafts of an operation the oldest is used, and the others are removed.
func TestPrepare_UsesTheOldestDraft(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]int{"one": 1, "two": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s, first := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
			var h struct{ Slug string }
			if err := json.Unmarshal([]byte(s.Handle), &h); err != nil {
				t.Fatal(err)
			}
			for range earlier {
				n.edit("POST", "/posts", map[string]any{"title": "Giá xăng", "slug": h.Slug})
			}
			s.Handle = ""
			again, id := n.draft(s)
			if id != first {
				t.Errorf("got draft %s, want the oldest, %s", id, first)
			}
			if drafts := n.drafts(again); len(drafts) != 1 {
				t.Errorf("got the drafts %v, want one", drafts)
			}
			if receipt, e := n.publish(again); e != nil || receipt.RemoteID != first || n.public() != 1 {
				t.Errorf("got %+v, %v and %d articles", receipt, e, n.public())
			}
		})
	}
	t.Run("in the trash", func(t *testing.T) {
		t.Parallel()
		n := open(t)
		s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
		n.edit("DELETE", "/posts/"+id, nil)
		s.Handle = ""
		if _, err := n.prepare(s); network.AsError(err) == nil || network.AsError(err).Code != "deleted_there" {
			t.Errorf("got %v, want deleted_there", err)
		}
	})
}

// Names that WordPress takes for new tags do not become ones.
func TestTags_AreNotDuplicated(t *testing.T) {
	t.Parallel()
	n := open(t)
	for i, name := range []string{"Hà Nội", "hà nội", "HÀ NỘI", " Hà  Nội ", "H\u0061\u0300 N\u1ed9i", "AT&T", "at&t", "Ha Noi"} {
		s, _ := n.draft(network.Submission{
			Key: fmt.Sprint(i), Text: "Tin", Options: wordpress.PostOptions{Tags: []string{name}},
		})
		if receipt, e := n.publish(s); e != nil || len(receipt.Differences) != 0 {
			t.Errorf("%s: got %+v, %v", name, receipt, e)
		}
	}
	var ids []string
	for _, p := range n.server.Posts() {
		ids = append(ids, fmt.Sprint(p.Options["tags"]))
	}
	if want := []string{"[100]", "[100]", "[100]", "[100]", "[100]", "[101]", "[101]", "[102]"}; !slices.Equal(ids, want) {
		t.Errorf("got the tags %v, want %v", ids, want)
	}
}

func TestCategories_MustExist(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Thời sự": "", "THỜI SỰ": "", "kinh-te": "", "Kinh tế & thị trường": "",
		"Thời": "unknown_category", "Thoi su": "unknown_category", "Kinh": "unknown_category",
	} {
		n := open(t)
		_, err := n.prepare(network.Submission{
			Key: "k", Text: "Tin", Options: wordpress.PostOptions{Categories: []string{name}},
		})
		if e := network.AsError(err); want == "" && e != nil || want != "" &&
			(e == nil || e.Code != want || e.Class != network.Rejected || e.Field != "options.categories[0]") {
			t.Errorf("%s: got %v, want %q", name, e, want)
		}
	}
}

// What WordPress leaves out with a success is reported.
func TestDifferences_OfWhatWordPressDrops(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options wordpress.PostOptions
		drop    map[string]any
		want    string
	}{
		"tag":      {wordpress.PostOptions{Tags: []string{"Bão"}}, map[string]any{"tags": []int{}}, "tags"},
		"category": {wordpress.PostOptions{Categories: []string{"thoi-su"}}, map[string]any{"categories": []int{99}}, "categories"},
		"format":   {wordpress.PostOptions{Format: "video"}, map[string]any{"format": "standard"}, "format"},
		"comments": {wordpress.PostOptions{Comments: "closed"}, map[string]any{"comment_status": "open"}, "comments"},
		"excerpt":  {wordpress.PostOptions{Excerpt: "Tóm tắt"}, map[string]any{"excerpt": ""}, "excerpt"},
		"sticky":   {wordpress.PostOptions{Sticky: true}, map[string]any{"sticky": false}, "sticky"},
		"slug":     {wordpress.PostOptions{Slug: "bao"}, map[string]any{"slug": "bao-2"}, "slug"},
		"nothing":  {wordpress.PostOptions{Tags: []string{"Bão"}, Slug: "bao", Sticky: true}, map[string]any{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s, id := n.draft(network.Submission{Key: "k", Text: "Bão số 9", Options: row.options})
			row.drop["status"] = "publish"
			n.edit("POST", "/posts/"+id, row.drop)
			receipt, e := n.publish(s)
			if e != nil {
				t.Fatal(e)
			}
			var got []string
			for _, d := range receipt.Differences {
				got = append(got, d.Code+" "+fmt.Sprint(d.Params["option"]))
			}
			if want := strings.TrimSpace(network.DifferenceOption + " " + row.want); row.want != "" &&
				!slices.Equal(got, []string{want}) || row.want == "" && len(got) > 0 {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

// A slug of its own is that of the article, even if the site has it already.
func TestSlug_IsChangedToTheChosenOne(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.edit("POST", "/posts", map[string]any{"title": "Cũ", "slug": "bao-so-9", "status": "publish"})
	s, _ := n.draft(network.Submission{Key: "k", Text: "Bão", Options: wordpress.PostOptions{Slug: "bao-so-9"}})
	receipt, e := n.publish(s)
	if e != nil || !strings.HasSuffix(receipt.URL, "/bao-so-9-2/") || len(receipt.Differences) != 1 {
		t.Errorf("got %+v, %v, want that the slug differs", receipt, e)
	}
}

// spoiled changes requests and responses between the adapter and the fake.
type spoiled struct {
	http.RoundTripper

	request  func(*http.Request, []byte)
	response func(*http.Response)
}

func (s spoiled) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.request != nil && r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		s.request(r, raw)
	}
	res, err := s.RoundTripper.RoundTrip(r)
	if err == nil && s.response != nil {
		s.response(res)
	}
	return res, err
}

// A word in brackets is not run as a shortcode, and HTML in a title is text.
func TestPrepare_SendsTextOnly(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	_, _, client := sandbox(t, server)
	var draft struct{ Title, Content, Excerpt string }
	client.Transport = spoiled{client.Transport, func(r *http.Request, raw []byte) {
		if strings.HasSuffix(r.URL.Path, "/posts") && json.Unmarshal(raw, &draft) != nil {
			t.Errorf("%s is not JSON", raw)
		}
	}, nil}
	w := wordpress.New(client, wordpress.Options{Sandbox: server.NetworkURL("wordpress"), Finish: finish})
	n := newsroom{t, server, w, connect(t, w, server, "desk")}
	s, _ := n.draft(network.Submission{
		Key: "k", Text: "<script>x</script> & [gallery]\n\n[gallery ids=1] <script>y</script> [a](https://a.example/[b])",
		Options: wordpress.PostOptions{Excerpt: "<img src=x onerror=y>"},
	})
	if strings.Contains(draft.Title+draft.Excerpt, "<") || strings.Contains(draft.Content, "[") ||
		strings.Contains(draft.Content, "<script") || draft.Title != "&lt;script&gt;x&lt;/script&gt; &amp; [gallery]" {
		t.Errorf("got %+v, want text only", draft)
	}
	if receipt, e := n.publish(s); e != nil || len(receipt.Differences) > 0 {
		t.Errorf("got %+v, %v", receipt, e)
	}
}

// A site without a trash deletes for good.
func TestDelete_WithoutATrash(t *testing.T) {
	t.Parallel()
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.RequestURI())
		if r.URL.Query().Get("force") == "" {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, `{"code":"rest_trash_not_supported","message":"Set force."}`)
			return
		}
		_, _ = io.WriteString(w, `{"deleted":true}`)
	}))
	t.Cleanup(server.Close)
	_, _, client := sandbox(t, startFake(t, fake.Options{}))
	w := wordpress.New(client, wordpress.Options{})
	err := w.Delete(t.Context(), network.Account{BaseURL: server.URL + "/wp-json", Token: secret.NewText("a:b")}, "5")
	if err != nil || len(calls) != 2 || calls[1] != "DELETE /wp-json/wp/v2/posts/5?force=true" {
		t.Errorf("got %v after %v", err, calls)
	}
}

// PHP may print warnings before the JSON.
func TestResponses_WithWarningsInFront(t *testing.T) {
	t.Parallel()
	for name, noise := range map[string]string{
		"html":   "<br />\n<b>Warning</b>: Undefined array key \"x\" in <b>/srv/a.php</b> on line <b>3</b><br />\n",
		"braces": "Deprecated: {closure} [8192] in {main} [0]\n", "bom": "\ufeff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startFake(t, fake.Options{})
			_, _, client := sandbox(t, server)
			client.Transport = spoiled{client.Transport, nil, func(res *http.Response) {
				raw, err := io.ReadAll(res.Body)
				if err != nil {
					t.Error(err)
				}
				res.Body, res.ContentLength = io.NopCloser(strings.NewReader(noise+string(raw))), -1
			}}
			w := wordpress.New(client, wordpress.Options{Sandbox: server.NetworkURL("wordpress"), Finish: finish})
			n := newsroom{t, server, w, connect(t, w, server, "author")}
			s, id := n.draft(network.Submission{Key: "k", Text: "Bão", Options: wordpress.PostOptions{Tags: []string{"Bão"}}})
			if receipt, e := n.publish(s); e != nil || receipt.RemoteID != id || len(receipt.Differences) > 0 {
				t.Errorf("got %+v, %v", receipt, e)
			}
		})
	}
}

// With a date, WordPress schedules or publishes by itself.
func TestCalls_NeverHaveADate(t *testing.T) {
	t.Parallel()
	server := startFake(t, fake.Options{})
	_, _, client := sandbox(t, server)
	var publishing atomic.Int32
	var mu sync.Mutex
	var bodies []string
	client.Transport = spoiled{client.Transport, func(_ *http.Request, raw []byte) {
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(raw))
		if strings.Contains(string(raw), `"publish"`) {
			publishing.Add(1)
		}
	}, nil}
	w := wordpress.New(client, wordpress.Options{Sandbox: server.NetworkURL("wordpress"), Finish: finish})
	n := newsroom{t, server, w, connect(t, w, server, "desk")}
	s, _ := n.draft(network.Submission{Key: "k", Text: "Bão", Options: wordpress.PostOptions{Slug: "bao", Sticky: true}})
	if _, e := n.publish(s); e != nil {
		t.Fatal(e)
	}
	if publishing.Load() != 1 || bodies[len(bodies)-1] != `{"status":"publish"}` {
		t.Errorf("got the bodies %q, want only the status in the last one", bodies)
	}
	for _, body := range bodies {
		if strings.Contains(body, "date") {
			t.Errorf("%s has a date", body)
		}
	}
}

// The password of an account that was revoked never reads as "nothing there".
func TestReconcile_WithARevokedPassword(t *testing.T) {
	t.Parallel()
	n := open(t)
	s, _ := n.draft(network.Submission{Key: "k", Text: "Bão"})
	if _, e := n.publish(s); e != nil {
		t.Fatal(e)
	}
	n.account.Token = secret.NewText("desk:revoked")
	finding, err := n.adapter.Reconcile(t.Context(), n.account, s, network.Window{})
	if e := network.AsError(err); e == nil || e.Class != network.Auth || finding.Conclusive {
		t.Errorf("got %+v, %v, want an auth error", finding, err)
	}
	s.Handle = ""
	if _, err := n.prepare(s); network.AsError(err) == nil || network.AsError(err).Class != network.Auth {
		t.Errorf("Prepare: got %v, want an auth error", err)
	}
}
