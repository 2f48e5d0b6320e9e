package bluesky_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/platforms/bluesky"
	"dateline/platforms/network"
)

// testRealThread publishes a thread of three posts and reads it with plain calls.
func testRealThread(t *testing.T, b *bluesky.Bluesky, account network.Account, d devenv) {
	_, alice, _ := d.person(t, "alice")
	texts := []string{
		"📰 Bản tin chiều cùng @alice.test và @nobody.test: #giáxăng tăng https://example.vn/tin?x=1.",
		"👨‍👩‍👧‍👦 Phần hai, theo (example.com)", "Phần ba #hết",
	}
	var receipts []network.Receipt
	for i, text := range texts {
		sub := network.Submission{Key: rand.Text(), Text: text, Language: "vi"}
		if i > 0 {
			sub.ReplyTo = receipts[i-1].RemoteID
		}
		receipt, _ := publish(t, b, account, sub)
		receipts = append(receipts, receipt)
		if want := "https://bsky.app/profile/desk.test/post/"; !strings.HasPrefix(receipt.URL, want) {
			t.Errorf("permalink %s, want one below %s", receipt.URL, want)
		}
	}
	one, two, three := read(t, d.PDS, receipts[0].RemoteID), read(t, d.PDS, receipts[1].RemoteID), read(t, d.PDS,
		receipts[2].RemoteID)
	for i, r := range []record{one, two, three} {
		if r.Value.Text != texts[i] || len(r.Value.Langs) != 1 || r.Value.Langs[0] != "vi" {
			t.Errorf("post %d reads %+v", i+1, r.Value)
		}
	}
	if one.Value.Reply != nil {
		t.Errorf("the first answers %+v", one.Value.Reply)
	}
	for _, r := range []struct {
		post, parent record
	}{{two, one}, {three, two}} {
		reply := r.post.Value.Reply
		if reply == nil {
			t.Fatal("reply: got nil")
		}
		if reply.Root.URI != one.URI {
			t.Errorf("reply.Root.URI: got %v, want %v", reply.Root.URI, one.URI)
		}
		if reply.Root.CID != one.CID {
			t.Errorf("reply.Root.CID: got %v, want %v", reply.Root.CID, one.CID)
		}
		if reply.Parent.URI != r.parent.URI {
			t.Errorf("reply.Parent.URI: got %v, want %v", reply.Parent.URI, r.parent.URI)
		}
		if reply.Parent.CID != r.parent.CID {
			t.Errorf("reply.Parent.CID: got %v, want %v", reply.Parent.CID, r.parent.CID)
		}
	}
	var marked []string
	for _, f := range one.Value.Facets {
		marked = append(marked, texts[0][f.Index.ByteStart:f.Index.ByteEnd]+" "+f.Features[0].URI+f.Features[0].DID+
			f.Features[0].Tag)
	}
	want := []string{
		"@alice.test " + alice, "#giáxăng giáxăng", "https://example.vn/tin?x=1 https://example.vn/tin?x=1",
	}
	if strings.Join(marked, "|") != strings.Join(want, "|") {
		t.Errorf("marked %q, want %q", marked, want)
	}
	_, err := b.Prepare(t.Context(), account, network.Submission{
		Text: "?", ReplyTo: "at://" + account.RemoteID + "/app.bsky.feed.post/3n2tvwxvr322c",
	})
	wantClass(t, err, network.Rejected, "")
}

func testRealMedia(t *testing.T, b *bluesky.Bluesky, account network.Account, d devenv) {
	var staged []string
	for i, alt := range []string{"Một tấm ảnh", ""} {
		s, err := b.Stage(t.Context(), account, photo(t, 40+i, 30, alt))
		if err != nil || !s.Ready || time.Until(s.ExpiresAt) < time.Minute {
			t.Fatalf("staged %+v, %v", s, err)
		}
		staged = append(staged, s.RemoteID)
	}
	receipt, _ := publish(t, b, account, network.Submission{Key: rand.Text(), MediaIDs: staged})
	var images struct {
		Type   string `json:"$type"`
		Images []struct {
			Alt         *string
			AspectRatio struct{ Width, Height int }
			Image       struct {
				MimeType string
				Ref      struct {
					Link string `json:"$link"`
				}
			}
		}
	}
	embedded(t, read(t, d.PDS, receipt.RemoteID), &images)
	if len(images.Images) != 2 {
		t.Fatalf("len(images.Images): got %v, want %v", len(images.Images), 2)
	}
	if images.Type != "app.bsky.embed.images" {
		t.Errorf("images.Type: got %q, want %q", images.Type, "app.bsky.embed.images")
	}
	if *images.Images[0].Alt != "Một tấm ảnh" {
		t.Errorf("*images.Images[0].Alt: got %q, want %q", *images.Images[0].Alt, "Một tấm ảnh")
	}
	if *images.Images[1].Alt != "" {
		t.Errorf("*images.Images[1].Alt: got %q, want %q", *images.Images[1].Alt, "")
	}
	if images.Images[0].AspectRatio.Width != 40 {
		t.Errorf("images.Images[0].AspectRatio.Width: got %v, want %v", images.Images[0].AspectRatio.Width, 40)
	}
	if images.Images[1].AspectRatio.Width != 41 {
		t.Errorf("images.Images[1].AspectRatio.Width: got %v, want %v", images.Images[1].AspectRatio.Width, 41)
	}
	if images.Images[0].Image.MimeType != "image/png" {
		t.Errorf("images.Images[0].Image.MimeType: got %q, want %q", images.Images[0].Image.MimeType, "image/png")
	}
	// Published media can be fetched.
	if status := get(t, d.PDS+"/xrpc/com.atproto.sync.getBlob?did="+account.RemoteID+"&cid="+
		images.Images[0].Image.Ref.Link, nil); status != http.StatusOK {
		t.Errorf("the picture: status %d", status)
	}

	s, err := b.Stage(t.Context(), account, video(t))
	if err != nil || !s.Ready {
		t.Fatalf("staged %+v, %v", s, err)
	}
	receipt, _ = publish(t, b, account, network.Submission{
		Key: rand.Text(), Text: "Phim", MediaIDs: []string{s.RemoteID},
	})
	var film struct {
		Type        string `json:"$type"`
		Alt         string
		AspectRatio struct{ Width, Height int }
		Video       struct{ MimeType string }
	}
	embedded(t, read(t, d.PDS, receipt.RemoteID), &film)
	if film.Type != "app.bsky.embed.video" || film.Alt != "Một đoạn phim" || film.AspectRatio.Height != 180 ||
		film.Video.MimeType != "video/mp4" {
		t.Errorf("video %+v", film)
	}

	// An upload that the server does not have or no longer has.
	lost := strings.Replace(staged[0], images.Images[0].Image.Ref.Link,
		"bafkreibjfgx2gprinfvicegelk5kosd6y2frmqpqzwqkg7usac74l3t2v4", 1)
	sub := prepare(t, b, account, network.Submission{Key: rand.Text(), MediaIDs: []string{lost}})
	_, err = b.Publish(t.Context(), account, sub)
	if e := wantClass(t, err, network.Transient, ""); e.Code != network.CodeMediaExpired {
		t.Errorf("code %s, want %s", e.Code, network.CodeMediaExpired)
	}
}

func embedded(t *testing.T, r record, into any) {
	t.Helper()
	if err := json.Unmarshal(r.Value.Embed, into); err != nil {
		t.Fatalf("embed %s: %v", r.Value.Embed, err)
	}
}

func photo(t *testing.T, width, height int, alt string) network.Media {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i, c := range []byte(rand.Text()) {
		img.Set(i, i, color.NRGBA{R: c, G: 80, B: 40, A: 255})
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return network.Media{
		MediaInfo: network.MediaInfo{
			MIMEType: "image/png", Bytes: int64(buf.Len()), Width: width, Height: height,
			AltText: alt,
		},
		FileName: "ảnh.png",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
		},
	}
}
