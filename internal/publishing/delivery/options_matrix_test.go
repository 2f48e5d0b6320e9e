package delivery_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// networkOption is a set of options with everything that the fake network receives for
// them, as JSON.
type networkOption struct {
	options  string
	want     string
	images   int
	document bool
	publish  int  // number of the call that publishes; 0: as without options
	blind    bool // the network does not list such a post
}

// networkOptions has every option of every network at least once, except those of
// untestedOptions.
func networkOptions() map[string][]networkOption {
	return map[string][]networkOption{
		"mastodon": {
			{
				options: `{"visibility":"unlisted","content_warning":"Bão","sensitive":true,"language":"vi","quote_policy":"followers"}`,
				want:    `{"visibility":"unlisted","spoiler_text":"Bão","sensitive":true,"language":"vi","quote_approval_policy":"followers"}`,
			},
			{
				options: `{"visibility":"private"}`,
				want:    `{"visibility":"private"}`,
			},
			{
				options: `{"visibility":"direct"}`,
				want:    `{"visibility":"direct"}`,
			},
			{
				options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_totals":true}}`,
				want:    `{"poll":{"options":["Có","Không"],"expires_in":3600,"multiple":true,"hide_totals":true}}`,
			},
		},
		"x": {
			{
				options: `{"reply_settings":"mentioned"}`,
				want:    `{"reply_settings":"mentionedUsers"}`,
			},
			{
				options: `{"made_with_ai":true,"paid_partnership":true}`,
				want:    `{"made_with_ai":true,"paid_partnership":true}`,
			},
			{
				options: `{"poll":{"choices":["Có","Không"],"duration_minutes":1440}}`,
				want:    `{"poll":{"options":["Có","Không"],"duration_minutes":1440}}`,
			},
		},
		"facebook": {
			{
				options: `{"link":"https://vnnews.example/bao"}`,
				want:    `{"link":"https://vnnews.example/bao"}`,
			},
			{options: `{"kind":"story"}`, want: `{"kind":"story"}`, images: 1, publish: 2},
		},
		"linkedin": {
			{
				options: `{"visibility":"connections","no_reshare":true}`,
				want:    `{"visibility":"CONNECTIONS","isReshareDisabledByAuthor":true}`,
			},
			{
				options: `{"poll":{"question":"Mưa lớn?","choices":["Có","Không"],"duration_days":7}}`,
				want:    `{"visibility":"PUBLIC","poll":{"question":"Mưa lớn?","options":[{"text":"Có"},{"text":"Không"}],"settings":{"duration":"SEVEN_DAYS"}}}`,
			},
			{
				options: `{"document_title":"Mùa mưa"}`, want: `{"visibility":"PUBLIC","title":"Mùa mưa"}`,
				document: true,
				publish:  2,
			},
		},
		"instagram": {
			{options: `{"kind":"story"}`, want: `{"media_type":"STORIES"}`, images: 1},
			{
				options: `{"collaborators":["vnnews"],"location_id":"106324046073002"}`,
				want:    `{"collaborators":["vnnews"],"location_id":"106324046073002"}`, images: 1,
			},
		},
		"threads": {
			{
				options: `{"topic":"Thời tiết","reply_control":"mentioned_only"}`,
				want:    `{"topic_tag":"Thời tiết","reply_control":"mentioned_only"}`,
			},
			{
				options: `{"poll":{"choices":["Có","Không"]}}`,
				want:    `{"poll_attachment":{"option_a":"Có","option_b":"Không"}}`,
			},
			{
				options: `{"spoiler_media":true}`,
				want:    `{"is_spoiler_media":true}`, images: 1,
			},
			{
				options: `{"spoiler_phrases":["Tide"]}`,
				want:    `{"text_entities":[{"entity_type":"SPOILER","offset":0,"length":4}]}`,
			},
		},
		"bluesky": {
			{
				options: `{"who_can_reply":["nobody"],"no_quotes":true,"labels":["graphic-media"],"languages":["vi"]}`,
				want:    `{"labels":["graphic-media"],"langs":["vi"],"threadgate":[],"postgate":[{"$type":"app.bsky.feed.postgate#disableRule"}]}`,
			},
			{
				options: `{"quote":"QUOTED"}`,
				want:    `{"quote":"QUOTED"}`,
			},
		},
		"discord": {
			{
				options: `{"silent":true,"suppress_embeds":true}`,
				want:    `{"flags":4100}`,
			},
			{
				options: `{"embed":{"title":"Bão số 9","description":"Tin mới","url":"https://vnnews.example/bao","image_url":"https://vnnews.example/bao.jpg","color":"#ff0000","footer":"VN News"}}`,
				want:    `{"embeds":[{"title":"Bão số 9","description":"Tin mới","url":"https://vnnews.example/bao","color":16711680,"image":{"url":"https://vnnews.example/bao.jpg"},"footer":{"text":"VN News"}}]}`,
			},
			{
				options: `{"forum":{"title":"Bão số 9","tags":["1234567890"]}}`,
				want:    `{"name":"Bão số 9","applied_tags":["1234567890"]}`,
			},
		},
		"wordpress": {
			{
				options: `{"title":"Bão số 9","excerpt":"Tóm tắt","slug":"bao-so-9","categories":["thoi-su"],"tags":["Bão"],"comments":"closed","format":"video","sticky":true,"visibility":"public"}`,
				want:    `{"title":"Bão số 9","excerpt":"Tóm tắt","categories":[2],"tags":[100],"comment_status":"closed","format":"video","sticky":true}`,
				publish: 4, // after the tag, the draft and its slug
			},
			{
				options: `{"featured_image":"none","visibility":"editors"}`,
				want:    `{"title":"` + text + `","status":"private"}`, images: 1, publish: 3,
			},
		},
		"ghost": {
			{
				options: `{"title":"Bão số 9","excerpt":"Tóm tắt","slug":"bao-so-9","tags":["Bão"],"authors":["le-mai"],"featured":true,"canonical_url":"https://vnnews.example/bao","visibility":"public"}`,
				want:    `{"title":"Bão số 9","custom_excerpt":"Tóm tắt","tags":["Bão"],"authors":["Lê Mai"],"featured":true,"canonical_url":"https://vnnews.example/bao"}`,
				publish: 4, // after the tag, the draft and its slug
			},
			{
				options: `{"featured_image":"none","visibility":"members"}`,
				want:    `{"title":"` + text + `","visibility":"members"}`, images: 1, publish: 3,
			},
		},
		"nostr": {
			{
				options: `{"kind":"article","title":"Bão số 9","summary":"Tóm tắt","slug":"bao-so-9"}`,
				want:    `{"title":"Bão số 9","summary":"Tóm tắt","d":"bao-so-9"}`,
			},
			{
				options: `{"content_warning":"Cảnh máu me","expires_after_hours":24}`,
				want:    `{"content-warning":"Cảnh máu me","expiration":"24 h"}`,
			},
		},
		"zalo": {
			{
				options: `{"title":"Bão số 9","author":"Lê Mai","description":"Tóm tắt","comments":"closed"}`,
				want:    `{"title":"Bão số 9","author":"Lê Mai","description":"Tóm tắt","comment":"hide"}`, images: 1,
			},
			{
				options: `{"kind":"broadcast"}`,
				want:    `{"title":"` + text + `","broadcasts":1}`, images: 1,
				publish: 5, blind: true, // after the article was shown
			},
		},
		"slack": {
			{
				options: `{"plain_text":true,"suppress_previews":true,"broadcast_replies":true}`,
				want:    `{"mrkdwn":false,"unfurl_links":false,"unfurl_media":false}`,
			},
			{options: `{"plain_text":true}`, want: `{"mrkdwn":false,"section":"plain_text"}`, images: 1, publish: 4},
		},
		"telegram": {
			{
				options: `{"silent":true,"protected":true,"topic_id":42,"buttons":[[{"text":"Đọc tiếp","url":"https://vnnews.example/a"}]],"link_preview":{"disabled":true}}`,
				want:    `{"disable_notification":true,"protect_content":true,"message_thread_id":42,"reply_markup":{"inline_keyboard":[[{"text":"Đọc tiếp","url":"https://vnnews.example/a"}]]},"link_preview_options":{"is_disabled":true}}`,
			},
			{
				options: `{"link_preview":{"size":"large","above_text":true,"url":"https://vnnews.example/a"}}`,
				want:    `{"link_preview_options":{"prefer_large_media":true,"show_above_text":true,"url":"https://vnnews.example/a"}}`,
			},
			{
				options: `{"spoiler":true,"caption_above":true}`,
				want:    `{"has_spoiler":true,"show_caption_above_media":true}`, images: 1,
			},
			{
				options: `{"poll":{"choices":["Có","Không"],"duration_minutes":60,"multiple":true,"hide_results":true}}`,
				want:    `{"options":[{"text":"Có"},{"text":"Không"}],"open_period":3600,"allows_multiple_answers":true,"hide_results_until_closes":true}`,
			},
		},
	}
}

// untestedOptions belong to a video, which platforms/platformtest sends, or to the first
// comment: TestFirstComment_IsMadeOnceWhenItsResponseIsLost.
func untestedOptions(networkName, path string) bool {
	return strings.HasPrefix(path, "first_comment.") || networkName == "instagram" &&
		(path == "share_to_feed" || path == "cover_millis")
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
	options, quote := row.options, ""
	if strings.Contains(options, "QUOTED") {
		quoted := b.schedule(func(p *post.Post) { p.Content = "What is quoted" }, a.ID)
		b.publish(b.publisher(), input(quoted))
		quote = b.read(quoted.ID).Targets[0].RemoteID
		options = strings.Replace(options, "QUOTED", quote, 1)
	}
	known := len(b.published())
	nth := n.publish[0]
	if row.publish > 0 {
		nth = row.publish
	}
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.ActThen500, Network: n.network, Method: http.MethodPost, Nth: nth, Account: name,
	}))
	p := b.schedule(func(p *post.Post) {
		p.Options = post.Options{n.network: json.RawMessage(options)}
		if row.document {
			b.withMedia(b.document())(p)
		}
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
	got, err := json.Marshal(posts[known].Options)
	b.must(err)
	require.JSONEq(b.t, strings.Replace(row.want, "QUOTED", quote, 1), string(got), "what the network received for %s",
		options)
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
