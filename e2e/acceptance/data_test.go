package acceptance

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
)

// count sends page views to both apis and expects the sum from both.
func (in *installation) count() {
	in.t.Helper()
	var made struct {
		Key  string              `json:"secret_key"`
		Site struct{ ID string } `json:"site"`
	}
	in.call(0, http.MethodPost, "/api/v1/sites", map[string]any{"name": "News"}, &made)
	const readers = 20
	for i := range readers {
		// An api learns about a new site within moments.
		e2etest.Eventually(in.t, 10*time.Second, "a view to be accepted", func() bool { return in.hit(i, made.Key) })
	}
	for n := range in.apis {
		e2etest.Eventually(in.t, 20*time.Second, fmt.Sprintf("%d views at api %d", readers, n), func() bool {
			var stats struct{ Pages []struct{ Views int } }
			in.call(n, http.MethodGet, "/api/v1/sites/"+made.Site.ID+"/pages/stats?page="+stack.Page, nil, &stats)
			return len(stats.Pages) == 1 && stats.Pages[0].Views == readers
		})
	}
}

// hit sends a reader's view to an api and reports whether it was counted.
func (in *installation) hit(reader int, key string) bool {
	in.t.Helper()
	answer, err := stack.View(in.t.Context(), in.apis[reader%2].At, key, reader)
	e2etest.Must(in.t, err)
	var said struct{ Counted int }
	return answer.Status == http.StatusAccepted && answer.Into(&said) == nil && said.Counted == 1
}

// upload uploads a picture.
func (in *installation) upload(n int) (id string) {
	in.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	e2etest.Must(in.t, form.WriteField("alt_text", "A grey square"))
	part, err := form.CreateFormFile("file", "grey.jpg")
	e2etest.Must(in.t, err)
	e2etest.Must(in.t, jpeg.Encode(part, image.NewGray(image.Rect(0, 0, 640, 640)), nil))
	e2etest.Must(in.t, form.Close())
	request, err := http.NewRequestWithContext(in.t.Context(), http.MethodPost, in.apis[n].At+"/api/v1/media", &body)
	e2etest.Must(in.t, err)
	request.Header.Set("Authorization", "Bearer "+in.Token)
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := e2etest.Do(request)
	e2etest.Must(in.t, err)
	var media struct{ ID string }
	if err := answer.Into(&media); err != nil || answer.Status != http.StatusCreated {
		in.t.Fatalf("upload: %d %v %s", answer.Status, err, answer.Body)
	}
	return media.ID
}

// seed adds a seed for the newspaper.
func (in *installation) seed() {
	in.t.Helper()
	in.call(0, http.MethodPost, "/api/v1/seeds", map[string]any{"url": in.paper.URL + "/", "min_interval_seconds": 60},
		nil)
}

// stored waits until the search finds the article, and checks that its page is in the
// domain's archive, which is read from the bucket.
func (in *installation) stored() {
	in.t.Helper()
	e2etest.Eventually(in.t, 90*time.Second, "the article to be found", func() bool {
		var found struct{ Hits []struct{ URL string } }
		in.call(1, http.MethodGet, "/api/v1/search?q="+url.QueryEscape(`"`+stack.ArticleTitle+`"`), nil, &found)
		return len(found.Hits) == 1
	})
	var all struct{ Domains []struct{ Domain string } }
	in.call(1, http.MethodGet, "/api/v1/domains", nil, &all)
	if len(all.Domains) != 1 {
		in.t.Fatalf("domains: got %+v, want the one of %s", all.Domains, in.paper.URL)
	}
	answer, err := e2etest.Ask(in.t.Context(), http.MethodGet, in.apis[1].At+"/api/v1/domains/"+all.Domains[0].Domain+
		"/warc?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", in.Token, nil)
	if err != nil || answer.Status != http.StatusOK || len(answer.Body) < 500 {
		in.t.Errorf("the archive of the domain: %v, status %d, %d bytes", err, answer.Status, len(answer.Body))
	}
}
