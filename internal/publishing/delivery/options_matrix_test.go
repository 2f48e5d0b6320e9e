package delivery_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// networkOption is a set of options with the name and value of what the fake network
// receives for some of them.
type networkOption struct {
	options string
	want    map[string]any
	images  int
	publish int  // number of the call that publishes; 0: as without options
	blind   bool // the network does not list such a post
}

// networkOptions has every option of every network at least once, except those of
// untestedOptions.
func networkOptions() map[string][]networkOption {
	type values = map[string]any
	return map[string][]networkOption{
		"mastodon": {
			{options: `{"visibility":"unlisted","content_warning":"Bão","sensitive":true,"language":"vi","quote_policy":"followers"}`,
				want: values{"visibility": "unlisted", "spoiler_text": "Bão", "sensitive": true, "language": "vi", "quote_approval_policy": "followers"}},
			{options: `{"visibility":"private"}`, want: values{"visibility": "private"}},
			{options: `{"visibility":"direct"}`, want: values{"visibility": "direct"}},
			{options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_totals":true}}`},
		},
		"x": {
			{options: `{"reply_settings":"mentioned"}`, want: values{"reply_settings": "mentionedUsers"}},
			{options: `{"made_with_ai":true,"paid_partnership":true}`, want: values{"made_with_ai": true, "paid_partnership": true}},
			{options: `{"poll":{"choices":["Có","Không"],"duration_minutes":1440}}`},
		},
		"facebook": {
			{options: `{"link":"https://vnnews.example/bao"}`, want: values{"link": "https://vnnews.example/bao"}},
			{options: `{"kind":"story"}`, want: values{"kind": "story"}, images: 1, publish: 2},
		},
		"linkedin": {
			{options: `{"visibility":"connections","no_reshare":true}`, want: values{"visibility": "CONNECTIONS", "isReshareDisabledByAuthor": true}},
			{options: `{"poll":{"question":"Mưa lớn?","choices":["Có","Không"],"duration_days":7}}`},
		},
		"instagram": {
			{options: `{"kind":"story"}`, want: values{"media_type": "STORIES"}, images: 1},
			{options: `{"collaborators":["vnnews"],"location_id":"106324046073002"}`, want: values{"collaborators": []string{"vnnews"}, "location_id": "106324046073002"}, images: 1},
		},
		"threads": {
			{options: `{"topic":"Thời tiết","reply_control":"mentioned_only"}`, want: values{"topic_tag": "Thời tiết", "reply_control": "mentioned_only"}},
			{options: `{"poll":{"choices":["Có","Không"]}}`, want: values{"poll_attachment": map[string]string{"option_a": "Có", "option_b": "Không"}}},
			{options: `{"spoiler_media":true}`, want: values{"is_spoiler_media": true}, images: 1},
			{options: `{"spoiler_phrases":["Tide"]}`, want: values{"text_entities": []map[string]any{{"entity_type": "SPOILER", "offset": 0, "length": 4}}}},
		},
		"bluesky": {
			{options: `{"who_can_reply":["nobody"],"no_quotes":true,"labels":["graphic-media"],"languages":["vi"]}`, want: values{"labels": []string{"graphic-media"}, "langs": []string{"vi"}}},
			{options: `{"quote":"QUOTED"}`},
		},
		"discord": {
			{options: `{"silent":true,"suppress_embeds":true}`, want: values{"flags": 4100}},
			{options: `{"embed":{"title":"Bão số 9","description":"Tin mới","url":"https://vnnews.example/bao","image_url":"https://vnnews.example/bao.jpg","color":"#ff0000","footer":"VN News"}}`},
			{options: `{"forum":{"title":"Bão số 9","tags":["1234567890"]}}`, want: values{"name": "Bão số 9"}},
		},
		"telegram": {
			{options: `{"silent":true,"protected":true,"topic_id":42,"buttons":[[{"text":"Đọc tiếp","url":"https://vnnews.example/a"}]],"link_preview":{"disabled":true}}`,
				want: values{"disable_notification": true, "protect_content": true, "message_thread_id": 42}},
			{options: `{"link_preview":{"size":"large","above_text":true,"url":"https://vnnews.example/a"}}`},
			{options: `{"spoiler":true,"caption_above":true}`, want: values{"has_spoiler": true, "show_caption_above_media": true}, images: 1},
			{options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_results":true}}`},
		},
	}
}

// untestedOptions belong to a video, which platforms/platformtest sends, or to the first
// comment: TestFirstComment_IsMadeOnceWhenItsResponseIsLost.
func untestedOptions(networkName, path string) bool {
	return strings.HasPrefix(path, "first_comment.") || networkName == "instagram" && (path == "share_to_feed" || path == "cover_millis")
}

// On every network, a post with any option whose response is lost is found and exists
// once, with its options. Where this cannot be found out, it is uncertain.
func TestOptions_EveryNetworkKeepsThemWhenAResponseIsLost(t *testing.T) {
	rows := networkOptions()
	for _, n := range everyNetworks() {
		t.Run(n.network, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Unanswered, b.timing.Settled = 600*time.Millisecond, 100*time.Millisecond
			adapter, _ := b.networks.Get(n.network)
			for _, path := range platformtest.OptionPaths(t, adapter.(network.OptionParser)) {
				if !untestedOptions(n.network, path) && !hasOption(rows[n.network], path) {
					t.Errorf("add option %s of %s to networkOptions", path, n.network)
				}
			}
			for i, row := range rows[n.network] {
				b.losesOptions(n, row, "news-"+n.network+string(rune('a'+i)))
			}
		})
	}
}

// losesOptions publishes a post whose response is lost, as the first one of an account.
func (b *bench) losesOptions(n everyNetwork, row networkOption, name string) {
	b.t.Helper()
	a := b.connectAnywhere(n, name)
	options := row.options
	if strings.Contains(options, "QUOTED") {
		quoted := b.schedule(func(p *post.Post) { p.Content = "What is quoted" }, a.ID)
		b.publish(b.publisher(), input(quoted))
		options = strings.Replace(options, "QUOTED", b.read(quoted.ID).Targets[0].RemoteID, 1)
	}
	known := len(b.published())
	nth := n.publish[0]
	if row.publish > 0 {
		nth = row.publish
	}
	b.must(b.fake.Inject(fake.Fault{Kind: fake.ActThen500, Network: n.network, Method: http.MethodPost, Nth: nth, Account: name}))
	p := b.schedule(func(p *post.Post) {
		p.Options = post.Options{n.network: json.RawMessage(options)}
		for range row.images {
			b.withMedia(b.photo())(p)
		}
	}, a.ID)
	result, _ := b.publish(b.publisher(), input(p))
	want := post.TargetPosted
	if n.blind[0] || row.blind {
		want = post.TargetUncertain
	}
	if result.Status != want {
		b.t.Errorf("%s: got %+v, want %s", options, result, want)
	}
	posts := b.published()
	if len(posts) != known+1 {
		b.t.Fatalf("%s: got %d posts, want %d", options, len(posts), known+1)
	}
	for name, value := range row.want {
		got, err := json.Marshal(posts[known].Options[name])
		b.must(err)
		if wanted, _ := json.Marshal(value); string(got) != string(wanted) {
			b.t.Errorf("%s: the network received %s = %s, want %s", options, name, got, wanted)
		}
	}
	if len(row.want) == 0 && len(posts[known].Options) == 0 {
		b.t.Errorf("%s: the network received no options", options)
	}
}

// hasOption reports whether one of the rows has an option, such as poll.choices.
func hasOption(rows []networkOption, path string) bool {
	for _, row := range rows {
		raw, found := json.RawMessage(row.options), true
		for name := range strings.SplitSeq(path, ".") {
			var inner map[string]json.RawMessage
			found = found && json.Unmarshal(raw, &inner) == nil
			raw, found = inner[name], found && inner[name] != nil
		}
		if found {
			return true
		}
	}
	return false
}
