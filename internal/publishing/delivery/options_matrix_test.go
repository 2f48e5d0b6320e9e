package delivery_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// networkOption is one row of networkOptions.
type networkOption struct {
	options, name string
	value         any
	media         bool
}

// networkOptions are options of a post on each network, with the name and value that
// its fake received.
func networkOptions() map[string]networkOption {
	return map[string]networkOption{
		"mastodon":  {options: `{"visibility":"unlisted","content_warning":"Bão"}`, name: "spoiler_text", value: "Bão"},
		"x":         {options: `{"reply_settings":"mentioned"}`, name: "reply_settings", value: "mentionedUsers"},
		"facebook":  {options: `{"link":"https://vnnews.example/bao"}`, name: "link", value: "https://vnnews.example/bao"},
		"linkedin":  {options: `{"no_reshare":true}`, name: "isReshareDisabledByAuthor", value: true},
		"instagram": {options: `{"kind":"story"}`, name: "media_type", value: "STORIES", media: true},
		"threads":   {options: `{"topic":"Thời tiết"}`, name: "topic_tag", value: "Thời tiết"},
		"bluesky":   {options: `{"who_can_reply":["nobody"],"labels":["graphic-media"]}`, name: "labels", value: []string{"graphic-media"}},
		"discord":   {options: `{"silent":true}`, name: "flags", value: 4096},
		"telegram":  {options: `{"silent":true}`, name: "disable_notification", value: true},
	}
}

// On every network, a post with options whose response is lost exists once, with its
// options. Where this cannot be found out, it is uncertain.
func TestOptions_EveryNetworkKeepsThemWhenAResponseIsLost(t *testing.T) {
	rows := networkOptions()
	for _, n := range everyNetworks() {
		t.Run(n.network, func(t *testing.T) {
			row, ok := rows[n.network]
			if !ok {
				t.Fatalf("add options of %s to networkOptions", n.network)
			}
			b := newBench(t, fake.Options{})
			b.timing.Unanswered, b.timing.Settled = 600*time.Millisecond, 100*time.Millisecond
			a := b.connectAnywhere(n, "news-"+n.network)
			b.must(b.fake.Inject(fake.Fault{Kind: fake.ActThen500, Network: n.network, Method: http.MethodPost, Nth: n.publish[0], Account: "news-" + n.network}))
			picture := b.photo()
			p := b.schedule(func(p *post.Post) {
				p.Options = post.Options{n.network: json.RawMessage(row.options)}
				if row.media {
					b.withMedia(picture)(p)
				}
			}, a.ID)
			result, _ := b.publish(b.publisher(), input(p))
			want := post.TargetPosted
			if n.blind[0] {
				want = post.TargetUncertain
			}
			if result.Status != want {
				t.Errorf("got %+v, want %s", result, want)
			}
			posts := b.published()
			if len(posts) != 1 {
				t.Fatalf("got %d posts, want 1", len(posts))
			}
			got, err := json.Marshal(posts[0].Options[row.name])
			b.must(err)
			if wanted, _ := json.Marshal(row.value); string(got) != string(wanted) {
				t.Errorf("the network received %s = %s, want %s", row.name, got, wanted)
			}
		})
	}
}
