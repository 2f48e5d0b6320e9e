package ghost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/fake"
	"dateline/platforms/ghost"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// newsroom is the site desk, with the calls that editors make there.
type newsroom struct {
	*testing.T

	server  *fake.Server
	adapter *ghost.Ghost
	account network.Account
	calls   *calls
}

// calls changes and records the requests of editors and of the adapter.
type calls struct {
	http.RoundTripper

	mu     sync.Mutex
	login  string
	before func(*http.Request) // of the adapter
	sent   []string
}

func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	var raw []byte
	if r.Body != nil {
		var err error
		if raw, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	c.mu.Lock()
	c.login = r.Header.Get("Authorization")
	if r.Method != http.MethodGet {
		c.sent = append(c.sent, r.Method+" "+r.URL.RequestURI()+" "+string(raw))
	}
	before := c.before
	c.mu.Unlock()
	if before != nil {
		before(r)
	}
	return c.RoundTripper.RoundTrip(r)
}

func open(t *testing.T) newsroom {
	t.Helper()
	server := startFake(t, fake.Options{})
	client := platformtest.Client(t)
	seen := &calls{RoundTripper: client.Transport}
	client.Transport = seen
	g := ghost.New(client, ghost.Options{
		Sandbox: server.NetworkURL("ghost"), CreateTimeout: 700 * time.Millisecond, Finish: finish,
	})
	return newsroom{t, server, g, connect(t, g, server), seen}
}

// edit makes a call to the site with the login of the adapter's last one.
func (n newsroom) edit(method, path string, body map[string]any) map[string]any {
	n.Helper()
	kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	raw, err := json.Marshal(map[string]any{kind: []any{body}})
	if err != nil {
		n.Fatal(err)
	}
	r, err := http.NewRequestWithContext(n.Context(), method, n.account.BaseURL+"/ghost/api/admin"+path,
		bytes.NewReader(raw))
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Authorization", n.calls.login)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string][]map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil && res.StatusCode != http.StatusNoContent ||
		res.StatusCode > 299 {
		n.Fatalf("%s %s: %s %v %v", method, path, res.Status, out, err)
	}
	if len(out[kind]) == 0 {
		return nil
	}
	return out[kind][0]
}

// change changes a post as an editor who has it open.
func (n newsroom) change(id string, body map[string]any) {
	n.Helper()
	body["updated_at"] = n.edit("GET", "/posts/"+id+"/", nil)["updated_at"]
	n.edit("PUT", "/posts/"+id+"/?source=html", body)
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

// noted is the handle of a submission.
type noted struct{ ID, Slug string }

func (n newsroom) handle(s network.Submission) (h noted) {
	n.Helper()
	if err := json.Unmarshal([]byte(s.Handle), &h); err != nil {
		n.Fatal(err)
	}
	return h
}

func (n newsroom) draft(s network.Submission) (network.Submission, string) {
	n.Helper()
	s, err := n.prepare(s)
	if err != nil {
		n.Fatal(err)
	}
	id := n.handle(s).ID
	if id == "" {
		n.Fatalf("handle %s has no id", s.Handle)
	}
	return s, id
}

func (n newsroom) publish(s network.Submission) (network.Receipt, *network.Error) {
	receipt, err := n.adapter.Publish(n.Context(), n.account, s)
	return receipt, network.AsError(err)
}

// public counts the articles that readers see.
func (n newsroom) public() int {
	return len(slices.DeleteFunc(n.server.Posts(), func(p fake.Post) bool { return p.Deleted }))
}

// exists reports whether the site has a post with a slug.
func (n newsroom) exists(slug string) bool {
	n.Helper()
	r, err := http.NewRequestWithContext(n.Context(), http.MethodGet,
		n.account.BaseURL+"/ghost/api/admin/posts/slug/"+slug+"/", nil)
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Authorization", n.calls.login)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// wantOneDraft checks that an operation has one draft.
func (n newsroom) wantOneDraft(s network.Submission) {
	n.Helper()
	slug := n.handle(s).Slug
	if !n.exists(slug) || n.exists(slug+"-2") || n.exists(slug+"-3") {
		n.Errorf("%s exists: %v, a second one: %v", slug, n.exists(slug), n.exists(slug+"-2"))
	}
}

// What an editor does between Prepare and Publish is respected.
func TestPublish_RespectsEditors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		edit   func(newsroom, string)
		code   string // empty: posted
		public int
	}{
		"edited the text":     {func(n newsroom, id string) { n.change(id, map[string]any{"html": "<p>Sửa</p>"}) }, "edited_there", 0},
		"edited the title":    {func(n newsroom, id string) { n.change(id, map[string]any{"title": "Sửa"}) }, "edited_there", 0},
		"edited without lock": {func(n newsroom, id string) { n.change(id, map[string]any{"meta_title": "Sửa"}) }, "edited_there", 0},
		"sent as email only":  {func(n newsroom, id string) { n.change(id, map[string]any{"status": "sent"}) }, "edited_there", 0},
		"deleted":             {func(n newsroom, id string) { n.edit("DELETE", "/posts/"+id+"/", nil) }, "deleted_there", 0},
		"scheduled":           {func(n newsroom, id string) { n.change(id, map[string]any{"status": "scheduled"}) }, "scheduled_there", 0},
		"published":           {func(n newsroom, id string) { n.change(id, map[string]any{"status": "published"}) }, "", 1},
		"only looked at":      {func(n newsroom, id string) { n.edit("GET", "/posts/"+id+"/", nil) }, "", 1},
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

// An editor who saves between the look at the draft and the call that publishes it makes
// Ghost refuse the call.
func TestPublish_RespectsAnEditorInBetween(t *testing.T) {
	t.Parallel()
	for code, body := range map[string]map[string]any{
		"edited_there": {"html": "<p>Sửa</p>"}, "": {"status": "published"},
	} {
		n := open(t)
		s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng\n\nTăng"})
		var once sync.Once
		n.calls.before = func(r *http.Request) {
			if r.Method == http.MethodPut {
				once.Do(func() { n.change(id, body) })
			}
		}
		receipt, e := n.publish(s)
		if code == "" && (e != nil || receipt.RemoteID != id) || code != "" && (e == nil || e.Code != code) {
			t.Errorf("%v: got %+v, %v, want %q", body, receipt, e, code)
		}
		if want := map[bool]int{true: 1}[code == ""]; n.public() != want {
			t.Errorf("%v: got %d articles, want %d", body, n.public(), want)
		}
	}
}

// Publishing sends the status and the known change only: nothing that mails, schedules or
// overwrites. A second send changes nothing, and never publishes a deleted article.
func TestPublish_SendsTheStatusOnly(t *testing.T) {
	t.Parallel()
	n := open(t)
	s, id := n.draft(network.Submission{Key: "k", Text: "Bão", Options: ghost.PostOptions{Slug: "bao", Tags: []string{"Bão"}}})
	first, e := n.publish(s)
	if e != nil || len(first.Differences) > 0 {
		t.Fatalf("%+v, %v", first, e)
	}
	if again, e := n.publish(s); e != nil || again.RemoteID != id || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("got %+v, %v, want %+v", again, e, first)
	}
	puts := slices.DeleteFunc(slices.Clone(n.calls.sent), func(c string) bool {
		return !strings.Contains(c, `"status":"published"`)
	})
	if len(puts) != 1 || !strings.HasPrefix(puts[0], "PUT "+siteAPI+"/posts/"+id+"/?formats=html ") ||
		strings.Count(puts[0], `":`) != 3 || !strings.Contains(puts[0], `"updated_at":`) {
		t.Errorf("got %q, want one call with status and updated_at only", puts)
	}
	for _, call := range n.calls.sent {
		if strings.Contains(call, "published_at") || strings.Contains(call, "newsletter") || strings.Contains(call, "email") {
			t.Errorf("%s schedules or sends an email", call)
		}
	}
	n.edit("DELETE", "/posts/"+id+"/", nil)
	if _, e := n.publish(s); e == nil || e.Code != "deleted_there" || n.public() != 0 {
		t.Errorf("got %v and %d articles, want deleted_there", e, n.public())
	}
}

// A lost response to the draft never makes a second one, however late the server acts.
func TestPrepare_LostResponses(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fake.Fault{
		"acted":          {Kind: fake.ActThenReset},
		"acted, 500":     {Kind: fake.ActThen500},
		"acted, hung":    {Kind: fake.ActThenHang},
		"cut":            {Kind: fake.Malformed2xx},
		"acts late":      {Kind: fake.ActLate, For: 200 * time.Millisecond},
		"acts very late": {Kind: fake.ActLate, For: finish - 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			f.Method, f.Path = http.MethodPost, siteAPI+"/posts/"
			if err := n.server.Inject(f); err != nil {
				t.Fatal(err)
			}
			s, id := n.draft(network.Submission{Key: "k", Text: "Giá xăng"})
			if receipt, e := n.publish(s); e != nil || receipt.RemoteID != id {
				t.Errorf("got %+v, %v", receipt, e)
			}
			n.wantOneDraft(s)
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
		n.wantOneDraft(s)
	})
	t.Run("of the slug", func(t *testing.T) {
		t.Parallel()
		n := open(t)
		if err := n.server.Inject(fake.Fault{Kind: fake.ActThenReset, Method: http.MethodPut}); err != nil {
			t.Fatal(err)
		}
		s := network.Submission{Key: "k", Text: "Giá xăng", Options: ghost.PostOptions{Slug: "gia-xang"}}
		for range 5 { // as delivery repeats Prepare after an error
			ready, err := n.adapter.Prepare(t.Context(), n.account, s)
			if err == nil {
				s.Handle = ready.Handle
			}
		}
		if receipt, e := n.publish(s); e != nil || !strings.HasSuffix(receipt.URL, "/desk/gia-xang/") ||
			len(receipt.Differences) > 0 {
			t.Errorf("got %+v, %v", receipt, e)
		}
	})
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
			begun, err := n.adapter.Prepare(t.Context(), n.account, s)
			if err != nil || begun.Ready || len(n.calls.sent) > 0 {
				t.Fatalf("got %+v, %v, want a handle before anything is sent", begun, err)
			}
			s.Handle = begun.Handle
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
			n.wantOneDraft(s)
		})
	}
}

// If an earlier call acted as well, its draft is used and the other one is deleted.
func TestPrepare_UsesTheFirstDraft(t *testing.T) {
	t.Parallel()
	n := open(t)
	s := network.Submission{Key: "k", Text: "Giá xăng"}
	begun, err := n.adapter.Prepare(t.Context(), n.account, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Handle = begun.Handle
	var first string
	var once sync.Once
	n.calls.before = func(r *http.Request) {
		if r.Method == http.MethodPost {
			once.Do(func() {
				first = n.edit("POST", "/posts/?source=html", map[string]any{"title": "Giá xăng", "slug": n.handle(s).Slug})["id"].(string)
			})
		}
	}
	s, id := n.draft(s)
	if id != first {
		t.Errorf("got draft %s, want the first, %s", id, first)
	}
	n.wantOneDraft(s)
	if receipt, e := n.publish(s); e != nil || receipt.RemoteID != first || n.public() != 1 {
		t.Errorf("got %+v, %v and %d articles", receipt, e, n.public())
	}
}

// Tags keep the names that they have on the site, and no second one is made for another case.
func TestTags_AreNeitherRenamedNorDuplicated(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.edit("POST", "/tags/", map[string]any{"name": "Hà Nội"})
	for i, row := range [][2]string{
		{"HÀ NỘI", "Hà Nội"},
		{" hà  nội ", "Hà Nội"},
		{"Ha\u0300 N\u1ed9i", "Hà Nội"},
		{"ha-noi", "Hà Nội"},
		{"Ha Noi", "Ha Noi"},
		{"HA NOI", "Ha Noi"},
		{"O'Neill & \\ con", "O'Neill & \\ con"},
		{"o'neill & \\ con", "O'Neill & \\ con"},
		{`"Tin" nóng`, `"Tin" nóng`},
		{`"TIN" nóng`, `"Tin" nóng`},
		{"新聞", "新聞"},
		{"新聞", "新聞"},
	} {
		s, _ := n.draft(network.Submission{
			Key: fmt.Sprint(i), Text: "Tin", Options: ghost.PostOptions{Tags: []string{row[0]}},
		})
		if receipt, e := n.publish(s); e != nil || len(receipt.Differences) != 0 {
			t.Errorf("%s: got %+v, %v", row[0], receipt, e)
		}
		posts := n.server.Posts()
		if got := fmt.Sprint(posts[len(posts)-1].Options["tags"]); got != "["+row[1]+"]" {
			t.Errorf("%s: got the tag %s, want %s", row[0], got, row[1])
		}
	}
	// The site itself renames a tag that is named: this is what is guarded against.
	n.edit("POST", "/posts/", map[string]any{"title": "x", "tags": []any{map[string]string{"name": "HÀ NỘI"}}})
	s, _ := n.draft(network.Submission{Key: "last", Text: "Tin", Options: ghost.PostOptions{Tags: []string{"hà nội"}}})
	if _, e := n.publish(s); e != nil {
		t.Fatal(e)
	}
	posts := n.server.Posts()
	if got := fmt.Sprint(posts[len(posts)-1].Options["tags"]); got != "[HÀ NỘI]" {
		t.Errorf("got the tag %s, want that the fake renamed it", got)
	}
}

func TestAuthors_MustExist(t *testing.T) {
	t.Parallel()
	n := open(t)
	for name, want := range map[string]string{
		"Lê Mai": "", "LÊ MAI": "", "le-mai": "", "Mai@paper.example": "", "Le Mai": "unknown_author", "Ai đó": "unknown_author",
	} {
		_, err := n.prepare(network.Submission{
			Key: name, Text: "Tin", Options: ghost.PostOptions{Authors: []string{name}},
		})
		if e := network.AsError(err); want == "" && e != nil || want != "" &&
			(e == nil || e.Code != want || e.Class != network.Rejected || e.Field != "options.authors[0]") {
			t.Errorf("%s: got %v, want %q", name, e, want)
		}
	}
}

// What the site does not have when the article is public is reported.
func TestDifferences_OfWhatTheSiteDrops(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options ghost.PostOptions
		drop    map[string]any
		want    string
	}{
		"tags":          {ghost.PostOptions{Tags: []string{"Bão"}}, map[string]any{"tags": []any{}}, "tags"},
		"authors":       {ghost.PostOptions{Authors: []string{"le-mai"}}, map[string]any{"authors": []any{map[string]string{"id": "1"}}}, "authors"},
		"excerpt":       {ghost.PostOptions{Excerpt: "Tóm tắt"}, map[string]any{"custom_excerpt": nil}, "excerpt"},
		"featured":      {ghost.PostOptions{Featured: true}, map[string]any{"featured": false}, "featured"},
		"canonical_url": {ghost.PostOptions{CanonicalURL: "https://a.example/b"}, map[string]any{"canonical_url": nil}, "canonical_url"},
		"slug":          {ghost.PostOptions{Slug: "bao"}, map[string]any{"slug": "khac"}, "slug"},
		"nothing":       {ghost.PostOptions{Tags: []string{"Bão"}, Slug: "bao", Featured: true}, map[string]any{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := open(t)
			s, id := n.draft(network.Submission{Key: "k", Text: "Bão số 9", Options: row.options})
			row.drop["status"] = "published"
			n.change(id, row.drop)
			receipt, e := n.publish(s)
			if e != nil {
				t.Fatal(e)
			}
			var got []string
			for _, d := range receipt.Differences {
				got = append(got, d.Code+" "+fmt.Sprint(d.Params["option"]))
			}
			if want := network.DifferenceOption + " " + row.want; row.want != "" && !slices.Equal(got, []string{want}) ||
				row.want == "" && len(got) > 0 {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

// HTML of the author is text, and the chosen slug is that of the article, even if the site
// has it already.
func TestPrepare_SendsSafeHTML(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.edit("POST", "/posts/?source=html", map[string]any{"title": "Cũ", "slug": "bao-so-9"})
	s, _ := n.draft(network.Submission{
		Key: "k", Text: "<script>x</script> & tin\n\n<!--kg-card-begin: html--><script>y</script>",
		Options: ghost.PostOptions{Slug: "bao-so-9"},
	})
	if strings.Contains(strings.Join(n.calls.sent, "\n"), `"html":"\u003cscript`) ||
		strings.Contains(strings.Join(n.calls.sent, "\n"), `\u003c!--`) {
		t.Errorf("got %q, want text only", n.calls.sent)
	}
	receipt, e := n.publish(s)
	if e != nil || !strings.HasSuffix(receipt.URL, "/desk/bao-so-9-2/") || len(receipt.Differences) != 1 {
		t.Errorf("got %+v, %v, want that only the slug differs", receipt, e)
	}
}

// A key that was replaced never reads as "nothing there".
func TestReconcile_WithAReplacedKey(t *testing.T) {
	t.Parallel()
	n := open(t)
	s, _ := n.draft(network.Submission{Key: "k", Text: "Bão"})
	if _, e := n.publish(s); e != nil {
		t.Fatal(e)
	}
	n.account.Token = secret.NewText(anotherKey())
	finding, err := n.adapter.Reconcile(t.Context(), n.account, s, network.Window{})
	if e := network.AsError(err); e == nil || e.Class != network.Auth || finding.Conclusive {
		t.Errorf("got %+v, %v, want an auth error", finding, err)
	}
	s.Handle = ""
	if _, err := n.prepare(s); network.AsError(err) == nil || network.AsError(err).Class != network.Auth {
		t.Errorf("Prepare: got %v, want an auth error", err)
	}
}
