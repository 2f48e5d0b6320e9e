package rule_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/rule"
)

// web responds with an image, or with 404 for other addresses.
type web struct{ image string }

func (w web) RoundTrip(r *http.Request) (*http.Response, error) {
	var body bytes.Buffer
	status := http.StatusNotFound
	if r.URL.String() == w.image {
		if err := png.Encode(&body, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
			return nil, err
		}
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"image/png"}},
		Body: io.NopCloser(&body), ContentLength: int64(body.Len()), Request: r,
	}, nil
}

// The image of an article is attached if the rule asks for it and it can be fetched.
func TestEngine_AttachesTheImage(t *testing.T) {
	d := newRig(t)
	d.engine.Images = &media.Service{
		Objects: d.Objects, Store: d.Store.Publishing.Media, MaxBytes: 1 << 20, Web: &http.Client{
			Transport: web{"https://news.example/flood.png"},
		},
	}
	with := d.rule(func(r *rule.Rule) { r.Image = rule.ArticleImage })
	d.rule()
	withImage, refused, none := d.publish(), d.publish(), d.publish()
	d.Exec("update articles set image_url = 'https://news.example/flood.png' where id = $1", withImage)
	d.Exec("update articles set image_url = 'https://news.example/missing.png' where id = $1", refused)
	d.run()
	all := d.allDecisions()
	if len(all) != 6 {
		t.Fatalf("got %d decisions, want 6", len(all))
	}
	for _, x := range all {
		p, err := d.Scheduler.Post(t.Context(), d.Workspace.ID, *x.PostID)
		d.Must(err)
		want := 0
		if x.RuleID == with.ID && x.ArticleID == withImage {
			want = 1
		}
		name := map[uuid.UUID]string{
			withImage: "with an image", refused: "with a missing image",
			none: "without an image",
		}[x.ArticleID]
		if got := len(p.AttachmentIDs); got != want {
			t.Errorf("an article %s: got %d attachments, want %d", name, got, want)
		}
	}
}
