package linkcard_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dateline/internal/infra/ssrf"
	"dateline/internal/publishing/linkcard"
)

// web serves pages by path and counts requests.
func web(t *testing.T, pages map[string]func(w http.ResponseWriter)) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if page, ok := pages[r.URL.Path]; ok {
			page(w)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func page(contentType, body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func picture(width, height int) func(w http.ResponseWriter) {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	img.Set(1, 1, color.White)
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return page("image/png", b.String())
}

func get(t *testing.T, f *linkcard.Fetcher, address string) linkcard.Card {
	t.Helper()
	card, err := f.Get(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return card
}

func TestFetcher_ReadsTitleDescriptionAndImage(t *testing.T) {
	t.Parallel()
	address, _ := web(t, map[string]func(w http.ResponseWriter){
		"/a": page("text/html; charset=utf-8",
			`<html><head><title>Trang &amp; chủ</title><meta property="og:title" content="Lũ lụt  ở Huế">
			<meta name="description" content="Mưa lớn."><meta property="og:image" content="/p.png"></head><body><meta property="og:title" content="late"></body>`),
		"/p.png":  picture(1200, 630),
		"/plain":  page("text/html", `<title>Only a title</title>`),
		"/latin":  page("text/html; charset=iso-8859-1", "<title>Caf\xe9</title>"),
		"/file":   page("application/pdf", "%PDF"),
		"/broken": page("text/html", `<title>Image missing</title><meta property="og:image" content="/none.png">`),
	})
	f := &linkcard.Fetcher{Web: http.DefaultClient}
	card := get(t, f, address+"/a#part")
	if card.Title != "Lũ lụt ở Huế" || card.Description != "Mưa lớn." || card.Site != "127.0.0.1" {
		t.Errorf("got %q, %q, %q", card.Title, card.Description, card.Site)
	}
	if config, kind, err := image.DecodeConfig(bytes.NewReader(card.Image)); err != nil || kind != "jpeg" ||
		config.Width != 600 || config.Height != 315 {
		t.Errorf("got %s of %dx%d (%v), want a JPEG of 600x315", kind, config.Width, config.Height, err)
	}
	for path, want := range map[string]string{
		"/plain": "Only a title", "/latin": "Café", "/file": "",
		"/broken": "Image missing", "/none": "",
	} {
		if card := get(t, f, address+path); card.Title != want || card.Image != nil || card.Site == "" {
			t.Errorf("%s: got %q with %d bytes of image, want %q", path, card.Title, len(card.Image), want)
		}
	}
}

func TestFetcher_AsksOncePerPage(t *testing.T) {
	t.Parallel()
	address, asked := web(t, map[string]func(w http.ResponseWriter){"/": page("text/html", "<title>Home</title>")})
	f := &linkcard.Fetcher{Web: http.DefaultClient}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if card, err := f.Get(t.Context(), address+"/"); err != nil || card.Title != "Home" {
				t.Errorf("got %q (%v)", card.Title, err)
			}
		})
	}
	all.Wait()
	if got := asked.Load(); got != 1 {
		t.Errorf("got %d requests, want 1", got)
	}
}

func TestFetcher_ReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	address, asked := web(t, map[string]func(w http.ResponseWriter){"/": page("text/html", "<title>Secret</title>")})
	guard, err := ssrf.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &linkcard.Fetcher{Web: &http.Client{Transport: &http.Transport{DialContext: guard.DialContext}}}
	if card := get(t, f, address+"/"); card.Title != "" || asked.Load() != 0 {
		t.Errorf("got %q after %d requests, want nothing", card.Title, asked.Load())
	}
	for _, bad := range []string{
		"file:///etc/passwd", "ftp://news.example/", "https://user:pass@news.example/",
		"nothing", "http://",
	} {
		if _, err := f.Get(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "http") {
			t.Errorf("%s: got %v, want a refusal", bad, err)
		}
	}
}
