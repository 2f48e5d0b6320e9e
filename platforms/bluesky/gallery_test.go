package bluesky_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dateline/platforms/bluesky"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// Up to four images are an app.bsky.embed.images, more an app.bsky.embed.gallery, also
// beside a quoted post. The fake refuses too many of either, and items without a ratio.
func TestPublish_ManyImagesAreAGallery(t *testing.T) {
	for name, row := range map[string]struct {
		images    int
		maxImages int
		quote     bool
		oldView   bool // the app view does not know galleries
		violation string
		want      []string // differences
	}{
		"four":               {images: 4},
		"five":               {images: 5},
		"five with a quote":  {images: 5, quote: true},
		"ten":                {images: 10},
		"eleven":             {images: 11, violation: "too_many_attachments"},
		"eleven of twenty":   {images: 11, maxImages: 20},
		"twenty":             {images: 20, maxImages: 20},
		"more than twenty":   {images: 21, maxImages: 30, violation: "too_many_attachments"},
		"five of four":       {images: 5, maxImages: 4, violation: "too_many_attachments"},
		"an older app view":  {images: 6, oldView: true, want: []string{network.DifferenceMedia}},
		"four, and an older": {images: 4, oldView: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := startFake(t, fake.Options{})
			b, account, _ := sandbox(t, server, bluesky.Options{MaxImages: row.maxImages})
			limits, err := b.Limits(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			content := network.Content{
				Text: "Ảnh",
				Media: slices.Repeat([]network.MediaInfo{{MIMEType: "image/png", Bytes: 100, Width: 8, Height: 8}},
					row.images),
			}
			problems := b.Check(content, limits)
			if row.violation != "" {
				if len(problems) != 1 || problems[0].Code != row.violation {
					t.Errorf("got %+v, want %s", problems, row.violation)
				}
				return
			}
			if len(problems) > 0 {
				t.Fatalf("got %+v, want no violation", problems)
			}
			if row.oldView {
				if err := server.Inject(fake.Fault{
					Kind: fake.Alter, Part: fake.PartMedia, Method: http.MethodGet,
					Path: "/bluesky/xrpc/app.bsky.feed.getPosts", Count: -1,
				}); err != nil {
					t.Fatal(err)
				}
			}
			sub := network.Submission{Key: "k", Text: "Ảnh"}
			if row.quote {
				sub.Options = bluesky.PostOptions{Quote: publishQuoted(t, b, account)}
			}
			for range row.images {
				media := network.Media{
					MediaInfo: network.MediaInfo{
						MIMEType: "image/png", Bytes: 5, Width: 8,
						Height: 6, AltText: "Mô tả",
					}, FileName: "a.png",
					Open: func(context.Context) (io.ReadCloser, error) {
						return io.NopCloser(strings.NewReader("bytes")), nil
					},
				}
				staged, err := b.Stage(t.Context(), account, media)
				if err != nil {
					t.Fatal(err)
				}
				sub.MediaIDs, sub.Media = append(sub.MediaIDs, staged.RemoteID), append(sub.Media, media)
			}
			receipt, _ := publish(t, b, account, sub)
			var codes []string
			for _, d := range receipt.Differences {
				codes = append(codes, d.Code)
			}
			if !slices.Equal(codes, row.want) {
				t.Errorf("got the differences %v, want %v", codes, row.want)
			}
			posts := server.Posts()
			if last := posts[len(posts)-1]; len(last.Media) != row.images ||
				!strings.HasPrefix(last.Media[0].Description, "Mô tả") {
				t.Errorf("got %+v, want %d described images", last, row.images)
			}
		})
	}
}
