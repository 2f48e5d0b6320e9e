package fake_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// metaAccount is an account of one of Meta's networks.
type metaAccount struct {
	sandbox
	id string
}

func startMeta(t *testing.T, name string, options fake.Options) metaAccount {
	t.Helper()
	s := start(t, options)
	account, err := s.Add(fake.Account{Network: name, Name: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	s.token = account.Token
	return metaAccount{s, account.ID}
}

// expect sends a form and expects an id, or an error such as 36003/2207009.
func (m metaAccount) expect(method, path, form, wantError string) string {
	m.t.Helper()
	res, body := m.call(method, path, form, "Content-Type", "application/x-www-form-urlencoded")
	var response struct {
		ID    string
		Error *struct {
			Message string
			Code    int
			Subcode int    `json:"error_subcode"`
			Trace   string `json:"fbtrace_id"`
		}
	}
	if err := json.Unmarshal([]byte(body), &response); err != nil {
		m.t.Fatalf("%v: %s", err, body)
	}
	got := ""
	if e := response.Error; e != nil {
		if got = fmt.Sprintf("%d/%d", e.Code, e.Subcode); e.Message == "" || e.Trace == "" || res.StatusCode < 400 {
			m.t.Errorf("%s %s", res.Status, body)
		}
	}
	if got != wantError {
		m.t.Errorf("%s %s %s: %s, want %q", method, path, form, body, wantError)
	}
	if res.Header.Get("X-Fb-Trace-Id") == "" {
		m.t.Error("a response without id")
	}
	return response.ID
}

// serve returns the address of an image.
func serve(t *testing.T, kind string, width, height int) string {
	t.Helper()
	var data bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, width, height))
	err := jpeg.Encode(&data, img, nil)
	if kind == "png" {
		data.Reset()
		err = png.Encode(&data, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("the network fetches with %s", r.Method)
		}
		_, _ = w.Write(data.Bytes())
	}))
	t.Cleanup(server.Close)
	return url.QueryEscape(server.URL + "/picture")
}

func TestInstagram_ValidatesFetchedMedia(t *testing.T) {
	m := startMeta(t, "instagram", fake.Options{})
	media := "/instagram/v25.0/" + m.id + "/media"
	square := serve(t, "jpeg", 640, 640)
	for form, want := range map[string]string{
		"image_url=" + square: "",
		"image_url=" + square + "&caption=" + strings.Repeat("%C6%B0", 2200): "",
		"image_url=" + square + "&caption=" + strings.Repeat("%C6%B0", 2201): "36004/2207010",
		"image_url=" + square + "&caption=" + strings.Repeat("%23a+", 31):    "36004/2207010",
		"image_url=" + square + "&caption=" + strings.Repeat("@a+", 21):      "36004/2207010",
		"image_url=" + serve(t, "png", 640, 640):                             "36001/2207005",
		"image_url=" + serve(t, "jpeg", 640, 900):                            "36003/2207009",
		"image_url=http%3A%2F%2F127.0.0.1%3A1%2Fx":                           "9004/2207052",
		"media_type=REELS&video_url=" + square:                               "352/2207026",
		"media_type=VIDEO&video_url=" + square:                               "100/0",
		"media_type=CAROUSEL&children=1":                                     "100/2207028",
		"media_type=CAROUSEL&children=1,2":                                   "100/0",
		"caption=words":                                                      "100/0",
	} {
		m.expect(http.MethodPost, media, form, want)
	}
	m.expect(http.MethodPost, "/instagram/v25.0/17/media", "image_url="+square, "100/33")
	m.expect(http.MethodPost, media+"_archive", "", "2500/0")
}

func TestGraph_ContainerPublishesOnce(t *testing.T) {
	m := startMeta(t, "instagram", fake.Options{})
	publish := "/instagram/v25.0/" + m.id + "/media_publish"
	item := m.expect(http.MethodPost, "/instagram/v25.0/"+m.id+"/media", "is_carousel_item=true&image_url="+
		serve(t, "jpeg", 640, 640), "")
	m.expect(http.MethodPost, publish, "creation_id="+item, "24/2207006")
	whole := m.expect(http.MethodPost, "/instagram/v25.0/"+m.id+"/media",
		"caption=%3Cb%3E&image_url="+serve(t, "jpeg", 640, 640), "")
	id := m.expect(http.MethodPost, publish, "creation_id="+whole, "")
	m.expect(http.MethodPost, publish, "creation_id="+whole, "24/2207006")
	if _, body := m.call(http.MethodGet, "/instagram/v25.0/"+whole+"?fields=status_code,status",
		""); !strings.Contains(body, `"status_code":"PUBLISHED"`) {
		t.Error(body)
	}
	posts := m.Posts()
	if len(posts) != 1 || posts[0].ID != id || posts[0].Text != "<b>" {
		t.Fatalf("%+v", posts)
	}
	// The timeline shows the post, and the permalink redirects to it.
	_, page := m.call(http.MethodGet, "/", "")
	if !strings.Contains(page, "&lt;b&gt;") || !strings.Contains(page, `<img src="/media/`+posts[0].Media[0].ID+`"`) {
		t.Error(page)
	}
	if res, _ := m.call(http.MethodGet, strings.TrimPrefix(posts[0].URL, m.URL()), ""); res.Request.URL.Fragment != "p"+
		id {
		t.Errorf("the permalink leads to %s", res.Request.URL)
	}
	if res, _ := m.call(http.MethodGet, "/instagram/p/..%2Fx", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("%s", res.Status)
	}
}

func TestThreads_Validation(t *testing.T) {
	m := startMeta(t, "threads", fake.Options{})
	threads := "/threads/v1.0/" + m.id + "/threads"
	text := func(s string) string { return "media_type=TEXT&text=" + url.QueryEscape(s) }
	for form, want := range map[string]string{
		text(strings.Repeat("ữ", 500)):       "",
		text(strings.Repeat("ữ", 501)):       "100/0",
		text(strings.Repeat("😀", 125)):       "",
		text(strings.Repeat("😀", 125) + "!"): "100/0",
		text("https://a.example https://b.example www.c.example https://d.example https://e.example " +
			"https://a.example"): "",
		text("https://a.example https://b.example www.c.example https://d.example https://e.example " +
			"https://f.example"): "100/0",
		text(" "):                     "100/0",
		text("x") + "&reply_to_id=17": "100/0",
		"text=x":                      "100/0",
		"media_type=IMAGE&image_url=" + serve(t, "png", 640, 640): "",
		"media_type=VIDEO&video_url=" + serve(t, "png", 640, 640): "36001/2207005",
		"media_type=CAROUSEL&children=1,2":                        "100/0",
	} {
		m.expect(http.MethodPost, threads, form, want)
	}
}

func TestGraph_Paging(t *testing.T) {
	m := startMeta(t, "threads", fake.Options{})
	var ids []string
	for i := range 5 {
		created := m.expect(http.MethodPost, "/threads/v1.0/me/threads", fmt.Sprintf("media_type=TEXT&text=%d", i), "")
		ids = append([]string{m.expect(http.MethodPost, "/threads/v1.0/me/threads_publish", "creation_id="+created,
			"")}, ids...)
	}
	var got []string
	next := "/threads/v1.0/me/threads?fields=text&limit=2"
	for pages := 0; next != "" && pages < 5; pages++ {
		_, body := m.call(http.MethodGet, next, "")
		var page struct {
			Data   []struct{ ID, Text, Permalink string }
			Paging struct{ Next string }
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Data {
			got = append(got, p.ID)
			if p.Text == "" || p.Permalink != "" {
				t.Errorf("got other fields than requested: %+v", p)
			}
		}
		// Like Meta's, the address of the next page contains the token.
		if page.Paging.Next != "" && !strings.Contains(page.Paging.Next, "access_token="+m.token) {
			t.Errorf("next %s", page.Paging.Next)
		}
		next = strings.TrimPrefix(page.Paging.Next, m.URL())
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("%v, want %v", got, ids)
	}
	m.expect(http.MethodGet, "/threads/v1.0/me/threads?after=nonsense", "", "100/0")
	if _, body := m.call(http.MethodGet,
		fmt.Sprintf("/threads/v1.0/me/threads?since=%d", time.Now().Add(time.Hour).Unix()),
		""); !strings.Contains(body, `"data":[]`) {
		t.Error(body)
	}
}

func TestGraph_Tokens(t *testing.T) {
	clock := newTestClock()
	m := startMeta(t, "instagram", fake.Options{Clock: clock.Now, AutoApprove: true})
	app := network.SandboxApp("", "")
	get := func(path string, want int) (token string) {
		t.Helper()
		res, body := m.call(http.MethodGet, path, "", "Authorization", "")
		var response struct {
			Token   string `json:"access_token"`
			Expires int    `json:"expires_in"`
		}
		if err := json.Unmarshal([]byte(body), &response); err != nil || res.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", path, res.Status, body, want)
		}
		return response.Token
	}
	page := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := page.Get(m.URL() + "/instagram/oauth/authorize?response_type=code&client_id=" + app.ClientID +
		"&redirect_uri=http%3A%2F%2Fdesk.example%2Fcb&scope=instagram_business_basic")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	code := regexp.MustCompile(`code=([A-Z0-9]+)`).FindStringSubmatch(res.Header.Get("Location"))
	form := url.Values{
		"client_id": {app.ClientID}, "client_secret": {app.ClientSecret.Reveal()},
		"grant_type":   {"authorization_code"},
		"redirect_uri": {"http://desk.example/cb"}, "code": {code[1]},
	}
	_, body := m.call(http.MethodPost, "/instagram/oauth/access_token", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	var short struct {
		Token       string   `json:"access_token"`
		Permissions []string `json:"permissions"`
	}
	if err := json.Unmarshal([]byte(body), &short); err != nil || short.Token == "" || len(short.Permissions) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	if _, again := m.call(http.MethodPost, "/instagram/oauth/access_token", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded"); !strings.Contains(again, `"error_type":"OAuthException"`) {
		t.Errorf("a code worked twice: %s", again)
	}
	clock.advance(30 * time.Minute)
	get("/instagram/refresh_access_token?grant_type=ig_refresh_token&access_token="+short.Token, 400)
	get("/instagram/access_token?grant_type=ig_exchange_token&client_secret=wrong&access_token="+short.Token, 400)
	long := get("/instagram/access_token?grant_type=ig_exchange_token&client_secret="+app.ClientSecret.Reveal()+
		"&access_token="+short.Token, 200)
	get("/instagram/access_token?grant_type=ig_exchange_token&client_secret="+app.ClientSecret.Reveal()+
		"&access_token="+long, 400)
	get("/instagram/refresh_access_token?grant_type=ig_refresh_token&access_token="+long, 400) // too new to refresh
	clock.advance(24 * time.Hour)
	get("/instagram/v25.0/me?access_token="+short.Token, 400)
	renewed := get("/instagram/refresh_access_token?grant_type=ig_refresh_token&access_token="+long, 200)
	clock.advance(59*24*time.Hour + time.Minute)
	get("/instagram/v25.0/me?access_token="+long, 400)
	get("/instagram/v25.0/me?access_token="+renewed, 200)
	// Scopes and proofs are checked.
	m.token = renewed
	m.expect(http.MethodPost, "/instagram/v25.0/me/media", "image_url=x", "10/0")
	m.expect(http.MethodGet, "/instagram/v25.0/me?appsecret_proof=wrong", "", "100/0")
}
