package bluesky_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"dateline/platforms/bluesky"
	"dateline/platforms/call"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// serveSite serves pages and their images.
func serveSite(t *testing.T) string {
	t.Helper()
	image := photo(t, 60, 40, "")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tin", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			t.Errorf("got Accept: %q", r.Header.Get("Accept"))
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w,
			`<!DOCTYPE html><title>Báo | Trang chủ</title><meta property="og:title" content="Giá xăng &amp; dầu
			tăng"><meta name=description content="Từ 15 giờ."><meta property="og:image" content="/anh.png"><p>…`)
	})
	mux.HandleFunc("GET /anh.png", func(w http.ResponseWriter, r *http.Request) {
		data, err := image.Open(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(w, data)
	})
	mux.HandleFunc("GET /tieu-de", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		_, _ = io.WriteString(w, "<title>Caf\xe9</title><meta property='og:image' content='javascript:alert(1)'>")
	})
	mux.HandleFunc("GET /khong-ten", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>No title")
	})
	mux.HandleFunc("GET /json", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"title":"<title>x</title>"}`)
	})
	mux.HandleFunc("GET /dai", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>Long</title>"+strings.Repeat(" ", 5<<20))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

type external struct {
	Type     string `json:"$type"`
	External struct {
		URI, Title, Description string
		Thumb                   *struct{ MimeType string }
	}
}

// The card of the first link is accepted by the network's own server.
func testRealCard(t *testing.T, account network.Account, d devenv) {
	options := d.options()
	options.DisableLinkCard = false
	b := bluesky.New(newClient(t), options)
	link := serveSite(t) + "/tin"
	receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), Text: "Đọc " + link})
	wantCard(t, read(t, d.PDS, receipt.RemoteID), link)
}

func wantCard(t *testing.T, r record, link string) {
	t.Helper()
	var created external
	embedded(t, r, &created)
	{
		e := created.External
		if created.Type != "app.bsky.embed.external" {
			t.Errorf("created.Type: got %q, want %q", created.Type, "app.bsky.embed.external")
		}
		if e.URI != link {
			t.Errorf("e.URI: got %v, want %v", e.URI, link)
		}
		if e.Title != "Giá xăng & dầu tăng" {
			t.Errorf("e.Title: got %q, want %q", e.Title, "Giá xăng & dầu tăng")
		}
		if e.Description != "Từ 15 giờ." {
			t.Errorf("e.Description: got %q, want %q", e.Description, "Từ 15 giờ.")
		}
		if e.Thumb == nil {
			t.Fatal("e.Thumb: got nil")
		}
		if e.Thumb.MimeType != "image/png" {
			t.Errorf("e.Thumb.MimeType: got %q, want %q", e.Thumb.MimeType, "image/png")
		}
	}
}

// The content of cards, and that a failing page does not fail the post.
func TestPrepare_LinkCard(t *testing.T) {
	pds := serveAtRoot(t, startFake(t, fake.Options{}))
	b := bluesky.New(newClient(t), bluesky.Options{})
	account := connect(t, b, "", "desk.test", fake.BlueskyAppPassword, pds)
	pages := serveSite(t)
	receipt, _ := publish(t, b, account, network.Submission{
		Key: rand.Text(), Text: "Đọc " + pages + "/tin và " + pages + "/tieu-de",
	})
	wantCard(t, read(t, pds, receipt.RemoteID), pages+"/tin")
	for path, title := range map[string]string{
		"/tieu-de": "Café", "/khong-ten": "", "/json": "", "/dai": "",
		"/404": "",
	} {
		t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) {
			receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), Text: pages + path})
			r := read(t, pds, receipt.RemoteID)
			if title == "" {
				if len(r.Value.Embed) > 0 {
					t.Errorf("a card of an unreachable page: %s", r.Value.Embed)
				}
				return
			}
			var created external
			if embedded(t, r, &created); created.External.Title != title || created.External.Thumb != nil {
				t.Errorf("card %+v", created)
			}
		})
	}
	t.Run("Media", func(t *testing.T) {
		staged, err := b.Stage(t.Context(), account, photo(t, 10, 10, ""))
		if err != nil {
			t.Fatal(err)
		}
		receipt, _ := publish(t, b, account, network.Submission{
			Key: rand.Text(), Text: pages + "/tin", MediaIDs: []string{staged.RemoteID},
		})
		if r := read(t, pds, receipt.RemoteID); !strings.Contains(string(r.Value.Embed), "app.bsky.embed.images") {
			t.Errorf("embed %s", r.Value.Embed)
		}
	})
	t.Run("Private", func(t *testing.T) {
		u, err := url.Parse(pds)
		if err != nil {
			t.Fatal(err)
		}
		client, err := call.NewClient([]string{u.Host}) // and no other private address
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		sub := prepare(t, bluesky.New(client, bluesky.Options{}), account, network.Submission{
			Key: rand.Text(), Text: pages + "/tin",
		})
		if strings.Contains(sub.Handle, "card") {
			t.Errorf("a page in a private network was fetched: %s", sub.Handle)
		}
	})
}

// An image that the server may have deleted is omitted from the card.
func TestPublish_ExpiredCardImage(t *testing.T) {
	pds := serveAtRoot(t, startFake(t, fake.Options{}))
	b := bluesky.New(newClient(t), bluesky.Options{})
	account := connect(t, b, "", "desk.test", fake.BlueskyAppPassword, pds)
	link := "https://example.com/"
	sub := network.Submission{
		Key: rand.Text(), Text: "Late",
		Handle: fmt.Sprintf(`{"rkey":"3n2tvwxvr322c","card":{"uri":%q,"title":"T","thumb":{"$type":"blob",`+
			`"ref":{"$link":"bafkreigone"},"mimeType":"image/png","size":3},"thumb_until":"2026-01-01T00:00:00Z"}}`,
			link),
	}
	receipt, _ := publish(t, b, account, sub)
	var created external
	if embedded(t, read(t, pds, receipt.RemoteID), &created); created.External.Title != "T" ||
		created.External.Thumb != nil {
		t.Errorf("card %+v", created)
	}
}
