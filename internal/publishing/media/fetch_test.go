package media_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"

	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/call"
)

// web is a site that is trusted as if it were public, one that is not, and a newsroom
// that fetches.
func web(t *testing.T) (n *newsroomtest.Newsroom, site, private *httptest.Server) {
	t.Helper()
	n = newsroomtest.Open(t)
	content := photo(t, 40, 30, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/photo.jpg", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("the error reveals too much: %v", r.Header)
		}
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/"})
		w.Header().Set("Content-Type", "text/html") // ignored: the content decides
		_, _ = w.Write(content)
	})
	mux.HandleFunc("/named", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="../Ảnh đẹp.jpg"`)
		_, _ = w.Write(content)
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!doctype html>")
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000")
		_, _ = w.Write(content[:100])
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/huge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "99999999999")
	})
	mux.HandleFunc("/hop/{left}", func(w http.ResponseWriter, r *http.Request) {
		var left int
		_, _ = fmt.Sscan(r.PathValue("left"), &left)
		to := "/photo.jpg"
		if left > 1 {
			to = fmt.Sprintf("/hop/%d", left-1)
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("url"), http.StatusFound)
	})
	site = httptest.NewServer(mux)
	t.Cleanup(site.Close)
	private = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a private server got a request")
	}))
	t.Cleanup(private.Close)
	client, err := call.NewClient([]string{strings.TrimPrefix(site.URL, "http://")})
	n.Must(err)
	n.Media.Web = client
	return n, site, private
}

func TestFetch_StoresAFile(t *testing.T) {
	n, site, _ := web(t)
	for path, name := range map[string]string{
		"/photo.jpg?secret=1": "photo.jpg", "/named": "Ảnh đẹp.jpg",
		"/hop/3": "photo.jpg",
	} {
		item, replayed, err := n.Media.Fetch(t.Context(), n.Owner, site.URL+path, "A photo", "")
		require.NoError(t, err, "%s: %+v %v", path, item, err)
		require.False(t, replayed, "%s: %+v %v", path, item, err)
		require.Equal(t, "image/jpeg", item.MIMEType, "%s: %+v %v", path, item, err)
		require.Equal(t, 40, item.Width, "%s: %+v %v", path, item, err)
		require.Equal(t, name, item.FileName, "%s: %+v %v", path, item, err)
		require.Equal(t, "A photo", item.AltText, "%s: %+v %v", path, item, err)
	}
	first, _, err := n.Media.Fetch(t.Context(), n.Owner, site.URL+"/photo.jpg", "", "once")
	n.Must(err)
	second, replayed, err := n.Media.Fetch(t.Context(), n.Owner, site.URL+"/photo.jpg", "", "once")
	if err != nil || !replayed || second.ID != first.ID {
		t.Errorf("%v %v %v", second.ID, replayed, err)
	}
}

func TestFetch_RejectsPrivateAddresses(t *testing.T) {
	n, site, private := web(t)
	for address, code := range map[string]string{
		private.URL + "/photo.jpg":                       "private_address",
		site.URL + "/to?url=" + private.URL + "/a.jpg":   "private_address",
		site.URL + "/to?url=http://169.254.169.254/meta": "private_address",
		site.URL + "/to?url=http://[::1]/":               "private_address",
		site.URL + "/to?url=http://[::ffff:10.0.0.1]/":   "private_address",
		site.URL + "/to?url=file:///etc/passwd":          "unsupported_scheme",
		site.URL + "/to?url=http://user:pass@127.0.0.1/": "credentials",
		"http://127.0.0.1/photo.jpg":                     "private_address",
		"http://0177.0.0.1/photo.jpg":                    "",
		"http://10.0.0.8:8080/photo.jpg":                 "private_address",
		"ftp://example.org/photo.jpg":                    "unsupported_scheme",
		"file:///etc/passwd":                             "unsupported_scheme",
		"data:image/png;base64,AAAA":                     "unsupported_scheme",
		"photo.jpg":                                      "invalid",
		"http://":                                        "invalid",
		"http://%zz/":                                    "invalid",
		"http://me:secret@example.org/photo.jpg":         "credentials",
		"http://nowhere.invalid/photo.jpg":               "unknown_host",
		site.URL + "/hop/4":                              "redirects",
		site.URL + "/absent":                             "refused",
		site.URL + "/page":                               "unsupported_type",
		site.URL + "/cut":                                "incomplete",
		site.URL + "/endless":                            "too_large",
		site.URL + "/huge":                               "too_large",
	} {
		_, _, err := n.Media.Fetch(t.Context(), n.Owner, address, "", "")
		p := problemOf(err)
		if p.Message == "" || (code != "" && p.Code != code) {
			t.Errorf("%s: %v", address, err)
		}
		if strings.Contains(fmt.Sprint(err), "secret") || strings.Contains(fmt.Sprint(err), "127.0.0.1") ||
			strings.Contains(fmt.Sprint(err), "pass@") {
			t.Errorf("%s: the refusal repeats the address: %v", address, err)
		}
	}
	if rows := n.Count("select count(*) from media"); rows != 0 {
		t.Errorf("%d files are stored", rows)
	}
}

func TestFetch_EndsWhenTheServerIsTooSlow(t *testing.T) {
	n := newsroomtest.Open(t)
	content := mediatest.PlainJPEG(400, 300)
	trickle := func(pause time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for _, b := range content {
				_, _ = w.Write([]byte{b})
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(pause):
				}
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/trickle", trickle(20*time.Millisecond))
	mux.HandleFunc("/steady", trickle(time.Millisecond))
	mux.HandleFunc("/stalls", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(content[:100])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	client, err := call.NewClient([]string{strings.TrimPrefix(site.URL, "http://")})
	n.Must(err)
	n.Media.Web = client
	for path, want := range map[string]struct {
		pace media.FetchLimits
		code string
	}{
		"/trickle": {media.FetchLimits{MinRate: 1000, RateWindow: 200 * time.Millisecond}, "too_slow"},
		"/stalls":  {media.FetchLimits{MinRate: 1, RateWindow: 200 * time.Millisecond}, "too_slow"},
		"/steady": {
			media.FetchLimits{Timeout: 500 * time.Millisecond, MinRate: 1, RateWindow: 200 * time.Millisecond},
			"timeout",
		},
		"/silent": {media.FetchLimits{Timeout: 500 * time.Millisecond}, "timeout"},
	} {
		n.Media.FetchLimits = want.pace
		began := time.Now()
		_, _, err := n.Media.Fetch(t.Context(), n.Owner, site.URL+path, "", "")
		var refused *apperr.Error
		require.ErrorAs(t, err, &refused, "%s: got %v, want the problem %s of url", path, err, want.code)
		require.Equal(t, "fetch_failed", refused.Code, "%s: got %v, want the problem %s of url", path, err, want.code)
		require.Len(t, refused.Fields, 1, "%s: got %v, want the problem %s of url", path, err, want.code)
		require.Equal(t, "url", refused.Fields[0].Field, "%s: got %v, want the problem %s of url", path, err, want.code)
		require.Equal(t, want.code, refused.Fields[0].Code, "%s: got %v, want the problem %s of url", path, err,
			want.code)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v, want less than the server", path, took)
		}
	}
}
