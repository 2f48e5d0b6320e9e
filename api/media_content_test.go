package api_test

import (
	"bytes"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/platforms/call"
)

func TestMediaContent_StreamsRanges(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.upload("Ảnh đẹp.png", "")
	whole, at := picture(t), "/api/v1/media/"+made.Id.String()+"/content"
	a := s.send("GET", at, nil)
	if a.StatusCode != http.StatusOK || !bytes.Equal(a.body, whole) || a.Header.Get("Content-Type") != "image/png" ||
		a.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%s %v", a.Status, a.Header)
	}
	if _, params, err := mime.ParseMediaType(a.Header.Get("Content-Disposition")); err != nil ||
		params["filename"] != "Ảnh đẹp.png" {
		t.Errorf("%q", a.Header.Get("Content-Disposition"))
	}
	for span, want := range map[string]struct {
		status int
		body   []byte
	}{
		"bytes=0-9": {206, whole[:10]}, "bytes=10-": {206, whole[10:]}, "bytes=-5": {206, whole[len(whole)-5:]},
		"bytes=0-99999": {206, whole},
	} {
		a := s.send("GET", at, nil, "Range", span)
		if a.StatusCode != want.status || !bytes.Equal(a.body, want.body) {
			t.Errorf("%s: %s with %d bytes", span, a.Status, len(a.body))
		}
	}
	if a := s.send("GET", at, nil, "If-None-Match", a.Header.Get("ETag")); a.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged: %s", a.Status)
	}
	s.refused(s.send("GET", "/api/v1/media/first/content", nil), 400, "invalid_request", "id")
	s.refused(s.send("GET", at, nil, "Range", "bytes=99999-"), 416, "range_not_satisfiable", "Range")
	s.refused(s.send("GET", at, nil, "If-Match", `"other"`), 412, "precondition_failed")
	s.refused(s.send("GET", at, nil, "Authorization", ""), 401, "token_required")
	s.StopObjects()
	s.refused(s.send("GET", at, nil), 503, "unavailable")
}

func TestMediaUpload_Direct(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := picture(t)
	var begun, read spec.MediaUpload
	s.decode(s.send("POST", "/api/v1/media/uploads",
		object{"file_name": "a.png", "bytes": len(content), "mime_type": "image/png", "alt_text": "A"}), 201, &begun)
	page := s.send("GET", "/api/v1/media/uploads/"+begun.Id.String(), nil)
	s.decode(page, 200, &read)
	// The Content-Security-Policy lets the dashboard upload to it.
	to, err := url.Parse(*begun.Url)
	s.Must(err)
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"connect-src 'self' "+to.Scheme+"://"+to.Host+";") {
		t.Errorf("the policy is %q, and the file goes to %s", policy, to.Host)
	}
	if read.Id != begun.Id || read.Url == nil || begun.Parts != nil || begun.ExpiresAt.Before(time.Now()) {
		t.Errorf("started %+v, read %+v", begun, read)
	}
	complete := "/api/v1/media/uploads/" + begun.Id.String() + "/complete"
	s.refused(s.send("POST", complete, nil), 409, "upload_incomplete")
	r, err := http.NewRequestWithContext(t.Context(), *begun.Method, *begun.Url, bytes.NewReader(content))
	s.Must(err)
	sent, err := http.DefaultClient.Do(r)
	s.Must(err)
	s.Must(sent.Body.Close())
	var made spec.Media
	s.decode(s.send("POST", complete, nil), 201, &made)
	if made.MimeType != "image/png" || made.AltText != "A" || *made.Width != 30 {
		t.Errorf("made %+v", made)
	}
	s.decode(s.send("GET", "/api/v1/media/uploads/"+begun.Id.String(), nil), 200, &read)
	if read.MediaId == nil || *read.MediaId != made.Id {
		t.Errorf("read %+v", read)
	}
	_, _, rival := s.Found("Rivals")
	s.refused(s.send("GET", "/api/v1/media/uploads/"+begun.Id.String(), nil, "Authorization", "Bearer "+rival), 404,
		"upload_not_found")
}

func TestFitness_IsReportedPerAccount(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Media.MaxBytes = 64 << 20
	desk, other := s.Connect("desk"), s.Connect("other")
	fits := func(id, query string) []spec.AccountFitness {
		t.Helper()
		var f spec.MediaFitness
		s.decode(s.send("GET", "/api/v1/media/"+id+"/fitness"+query, nil), 200, &f)
		return f.Accounts
	}
	small := s.upload("a.png", "")
	if got := fits(small.Id.String(), ""); len(got) != 2 || got[0].Fits != "as_is" || got[1].Fits != "as_is" ||
		len(got[0].Changes)+len(got[0].Reasons) != 0 {
		t.Errorf("a small picture: %+v", got)
	}
	if got := fits(small.Id.String(), "?account="+other.ID.String()); len(got) != 1 || got[0].AccountId != other.ID ||
		got[0].Network != "mastodon" || got[0].Handle == "" {
		t.Errorf("one account: %+v", got)
	}
	// The instance accepts up to 33 million pixels.
	s.Exec("update media set width = 6000, height = 6000 where id = $1", small.Id)
	got := fits(small.Id.String(), "?account="+desk.ID.String())[0]
	if got.Fits != "converted" || len(got.Changes) == 0 || !strings.Contains(got.Changes[0].Message, "6000 × 6000") {
		t.Errorf("a large picture: %+v", got)
	}
	s.Exec("update media set kind = 'video', mime_type = 'video/quicktime' where id = $1", small.Id)
	if got := fits(small.Id.String(), "?account="+desk.ID.String())[0]; got.Fits != "no" || len(got.Reasons) == 0 ||
		got.Reasons[0].Code != "unfit_type" || !strings.Contains(got.Reasons[0].Message, "MOV") {
		t.Errorf("a film: %+v", got)
	}
	s.Must(s.Fake.Close())
	s.Exec("update accounts set base_url = 'http://127.0.0.1:9'")
	if got := fits(small.Id.String(), "?account="+desk.ID.String())[0]; got.Fits != "unknown" || len(got.Reasons) != 1 {
		t.Errorf("an unreachable instance: %+v", got)
	}
}

func TestFetchMedia_UsesTheSSRFGuard(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := picture(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content)
	}))
	t.Cleanup(site.Close)
	guarded, err := call.NewClient(nil)
	s.Must(err)
	s.Media.Web = guarded
	s.refused(s.send("POST", "/api/v1/media/fetch", object{"url": site.URL + "/a.png"}), 422, "fetch_failed", "url")
	s.Media.Web, err = call.NewClient([]string{strings.TrimPrefix(site.URL, "http://")})
	s.Must(err)
	var made spec.Media
	s.decode(s.send("POST", "/api/v1/media/fetch", object{"url": site.URL + "/a.png", "alt_text": "A"}), 201, &made)
	if made.FileName != "a.png" || made.AltText != "A" || made.MimeType != "image/png" {
		t.Errorf("made %+v", made)
	}
}
