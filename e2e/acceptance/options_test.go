package acceptance

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
)

const (
	optionPosts  = 200
	optionSpread = time.Minute     // in which they are due
	killInterval = 5 * time.Second // of the worker
	brokenShare  = 0.2             // of the calls that create a status
)

// wanted is what a post asks for, under the API's names.
type wanted struct {
	Visibility     string `json:"visibility,omitempty"`
	ContentWarning string `json:"content_warning,omitempty"`
	Language       string `json:"language,omitempty"`
	Poll           *poll  `json:"poll,omitempty"`
}

type poll struct {
	Choices         []string `json:"choices"`
	DurationMinutes int      `json:"duration_minutes"`
}

// status is a post on the server, as Mastodon's API returns it.
type status struct {
	Visibility  string `json:"visibility"`
	SpoilerText string `json:"spoiler_text"`
	Language    string `json:"language"`
	Poll        *struct {
		Options []struct {
			Title string `json:"title"`
		} `json:"options"`
	} `json:"poll"`
}

// optionsOf returns different options for posts that follow each other.
func optionsOf(i int) wanted {
	w := wanted{
		Visibility: []string{"public", "unlisted", "private"}[i%3],
		Language:   []string{"vi", "en", "fr", ""}[i%4],
	}
	if i%5 == 0 {
		w.ContentWarning = "Bão lũ"
	}
	if i%7 == 0 {
		w.Poll = &poll{Choices: []string{"Có", "Không", "Chưa biết"}, DurationMinutes: 60}
	}
	return w
}

// publishWithOptions publishes posts with options while connections to the server break
// at random and the worker is killed again and again. No post is on the server twice, or
// missing although Dateline calls it posted, and what the server made otherwise than
// asked is shown on the post.
func publishWithOptions(t *testing.T, program, base, token string) {
	t.Helper()
	p := newProxy(t, base, false)
	s := stack.Open(t, stack.Engines{
		Env: []string{"DATELINE_ALLOW_PRIVATE_HOSTS=" + strings.TrimPrefix(p.URL, "http://")},
	})
	makeBucket(t, s)
	s.Setup(program)
	s.API("api", program)
	worker := s.Worker("worker", program)
	t.Cleanup(func() { p.removeAll(t, token) })

	p.breakAtRandom(brokenShare)
	account := connect(t, s, p.URL, token)
	at := time.Now().Add(20 * time.Second)
	words, ids := make([]string, optionPosts), make([]string, optionPosts)
	for i := range optionPosts {
		words[i] = strings.ToLower(rand.Text())
		p.expect(words[i], 0)
		var made struct{ ID string }
		code, err := s.Call(0, http.MethodPost, "/api/v1/posts", map[string]any{
			"content":        "Tin số " + words[i],
			"scheduled_time": at.Add(optionSpread * time.Duration(i) / optionPosts).Format(time.RFC3339Nano),
			"accounts":       []string{account}, "options": map[string]any{"mastodon": optionsOf(i)},
		}, &made)
		if err != nil || code != http.StatusCreated {
			t.Fatalf("scheduling post %d: %d, %v", i, code, err)
		}
		ids[i] = made.ID
	}
	for time.Now().Before(at.Add(optionSpread)) {
		time.Sleep(killInterval)
		worker.Kill()
		worker = s.Worker("worker", program)
	}
	p.breakAtRandom(0)

	ends := s.Settled(ids)
	count := map[string]int{}
	for i, end := range ends {
		count[end]++
		copies := p.copies(words[i])
		if len(copies) > 1 || end == "posted" && len(copies) != 1 || end != "posted" && end != "uncertain" {
			t.Errorf("post %d is %s and %d times on the server", i, end, len(copies))
		}
		if end == "posted" && len(copies) == 1 {
			wantDifferencesShown(t, s, p, token, ids[i], copies[0], optionsOf(i))
		}
	}
	t.Logf("%d posts: %v", optionPosts, count)
}

// wantDifferencesShown reads a post back from the server and from Dateline.
func wantDifferencesShown(t *testing.T, s *stack.Stack, p *proxy, token, id, remoteID string, w wanted) {
	t.Helper()
	got := readStatus(t, p.URL, token, remoteID)
	var post struct {
		Targets []struct {
			Differences []struct{ Code string }
		}
	}
	code, err := s.Call(0, http.MethodGet, "/api/v1/posts/"+id, nil, &post)
	if err != nil || code != http.StatusOK || len(post.Targets) != 1 {
		t.Fatalf("reading post %s: %d, %v", id, code, err)
	}
	var shown []string
	for _, d := range post.Targets[0].Differences {
		shown = append(shown, d.Code)
	}
	for _, c := range []struct {
		differs bool
		codes   string
	}{
		{got.Visibility != w.Visibility, "visibility_differs visibility_wider"},
		{got.SpoilerText != w.ContentWarning, "warning_lost warning_differs"},
		{w.Language != "" && got.Language != w.Language, "language_differs"},
		{w.Poll != nil && (got.Poll == nil || len(got.Poll.Options) != len(w.Poll.Choices)), "poll_lost poll_differs"},
	} {
		isShown := false
		for _, one := range shown {
			isShown = isShown || strings.Contains(c.codes, one)
		}
		if c.differs != isShown {
			t.Errorf("post %s asked for %+v, the server has %+v; differences shown: %v", id, w, got, shown)
		}
	}
}

func readStatus(t *testing.T, base, token, id string) (got status) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		fmt.Sprintf("%s/api/v1/statuses/%s", base, id), nil)
	e2etest.Must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := e2etest.Do(request)
	e2etest.Must(t, err)
	e2etest.Must(t, json.Unmarshal(answer.Body, &got))
	return got
}
