package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/webpage"
	"dateline/platforms/network"
)

// reviewed returns the page of a review link with a post on one account.
func reviewed(t *testing.T, id, handle, name string, files []FrameFile, parts ...network.Preview) string {
	t.Helper()
	at := time.Date(2026, 11, 28, 10, 1, 0, 0, time.UTC)
	look := webpage.Preferences{Language: webpage.Vietnamese}
	f, err := NewFrame(look, id, strings.ToUpper(id[:1])+id[1:], handle, name, at)
	require.NoError(t, err)
	for _, p := range parts {
		f.Add(p, files)
	}
	page, err := Review{Look: look, State: "open", Secret: "s3cret", Frames: []Frame{f}}.HTML()
	require.NoError(t, err)
	return page
}

func TestReview_ShowsThePostInTheFrameOfItsNetwork(t *testing.T) {
	for id, want := range map[string][]string{
		"bluesky":   {`data-layout="column"`, `class="dlf-side"`, "@desk.news.example"},
		"x":         {`data-layout="column"`, "10:01, 28/11"},
		"mastodon":  {`data-layout="header"`, `data-square`, "@desk.news.example"},
		"telegram":  {`data-layout="bubble"`, `class="dlf-bubble"`, `class="dlf-time">10:01<`},
		"instagram": {`data-layout="photo"`, `<strong class="dlf-name">desk.news.example</strong>`},
		"unknown":   {`data-layout="header"`},
	} {
		page := reviewed(t, id, "desk.news.example", "Báo Mai", nil, network.Preview{Text: "Chào"})
		for _, part := range append(want, `data-network="`+id+`"`, `<div class="dlf-text">Chào</div>`) {
			if !strings.Contains(page, part) {
				t.Errorf("%s: got %s, want %s", id, page, part)
			}
		}
	}
}

func TestReview_MarksLinksAndEscapesText(t *testing.T) {
	text := "<b>Xem</b> news.example/…, @lan, #tet, tệp"
	span := func(word string, kind network.SpanKind, target string) network.Span {
		at := strings.Index(text, word)
		return network.Span{Start: at, End: at + len(word), Kind: kind, Target: target}
	}
	page := reviewed(t, "mastodon", "@desk@social.example", "", nil, network.Preview{
		Text: text, Card: "https://www.news.example/bai-1", Spans: []network.Span{
			span("news.example/…", network.SpanLink, "https://news.example/bai-1"),
			span("@lan", network.SpanMention, "lan"), span("#tet", network.SpanTag, "tet"),
			span("tệp", network.SpanLink, "javascript:alert(1)"),
		},
	}, network.Preview{Text: "Phần hai"})
	for _, want := range []string{
		"&lt;b&gt;Xem&lt;/b&gt;", `<a href="https://news.example/bai-1" target="_blank" rel="noreferrer">news.example/…</a>`,
		`<span class="dlf-link">@lan</span>`, `<span class="dlf-link">#tet</span>`, `<span class="dlf-link">tệp</span>`,
		`<span class="dlf-card-site">news.example</span>`, `<strong class="dlf-name">desk</strong>`,
		`<div class="dlf-post" data-threaded>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("got %s, want %s", page, want)
		}
	}
}

func TestReview_ShowsEveryFile(t *testing.T) {
	var files []FrameFile
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		files = append(files, FrameFile{ID: id, Description: "Ảnh " + id})
	}
	files = append(files, FrameFile{ID: "v", IsVideo: true}, FrameFile{ID: "p", IsDocument: true, Name: "bang-gia.pdf"})
	page := reviewed(t, "x", "@desk", "Desk", files, network.Preview{Text: "Bảy tệp", Card: "https://news.example"})
	for _, want := range []string{
		`data-grid="many"`, `<img src="s3cret/files/e" alt="Ảnh e">`, `<video controls preload="metadata" src="s3cret/files/v"`,
		`>bang-gia.pdf</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("got %s, want %s", page, want)
		}
	}
	if strings.Contains(page, `class="dlf-card"`) {
		t.Error("networks show no card beside files")
	}
}

// The style of frames is that of the composer, with the page's own choice of the color scheme.
func TestReview_StyleHasBothSchemes(t *testing.T) {
	page := reviewed(t, "x", "@desk", "Desk", nil, network.Preview{Text: "Chào"})
	for _, want := range []string{":root[data-scheme=dark] .dlf {", ":root:not([data-scheme=light]) .dlf {"} {
		if !strings.Contains(page, want) {
			t.Errorf("the style lacks %s", want)
		}
	}
	if strings.Contains(page, "mantine") {
		t.Error("the style refers to the dashboard")
	}
}

func TestInitials_AreThoseOfTheDashboard(t *testing.T) {
	for name, want := range map[string]string{
		"Báo Mai": "BM", "Nguyễn Thị Minh Khai": "MK", "desk": "D", "@tin.moi": "TM", "Đài 24": "Đ2", "!": "",
	} {
		if got := initials(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
