package bluesky_test

import (
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

// optionCases is the option matrix; quoted is the address of a post.
func optionCases(quoted string) []platformtest.OptionCase {
	const apply = "/bluesky/xrpc/com.atproto.repo.applyWrites"
	rule := func(kinds ...string) []map[string]string {
		rules := []map[string]string{}
		for _, kind := range kinds {
			rules = append(rules, map[string]string{"$type": "app.bsky.feed.threadgate#" + kind + "Rule"})
		}
		return rules
	}
	noQuotes := []map[string]string{{"$type": "app.bsky.feed.postgate#disableRule"}}
	return []platformtest.OptionCase{
		{Name: "nobody can reply", Options: `{"who_can_reply":["nobody"]}`, CreatePath: apply, Want: map[string]any{
			"threadgate": rule(),
		}},
		{
			Name: "some can reply", Options: `{"who_can_reply":["mentioned","followers","following"]}`,
			CreatePath: apply,
			Want:       map[string]any{"threadgate": rule("mention", "follower", "following")},
		},
		{
			Name: "a list can reply", Options: `{"who_can_reply":["at://did:plc:desk/app.bsky.graph.list/3kabc"]}`,
			Images: 1, CreatePath: apply,
			Want: map[string]any{"threadgate": []map[string]string{
				{"$type": "app.bsky.feed.threadgate#listRule", "list": "at://did:plc:desk/app.bsky.graph.list/3kabc"},
			}},
		},
		{
			Name: "friends can reply", Options: `{"who_can_reply":["friends"]}`, Field: "options.who_can_reply[0]",
			Code: "unknown_value",
		},
		{
			Name: "nobody and somebody", Options: `{"who_can_reply":["nobody","followers"]}`,
			Field: "options.who_can_reply[0]", Code: "reply_contradiction",
		},
		{
			Name: "gate of a reply", Options: `{"who_can_reply":["nobody"]}`, Reply: true,
			Field: "options.who_can_reply",
			Code:  "set_on_first_post",
		},
		{Name: "no quotes", Options: `{"no_quotes":true}`, CreatePath: apply, Want: map[string]any{
			"postgate": noQuotes,
		}},
		{
			Name: "both gates", Options: `{"no_quotes":true,"who_can_reply":["followers"]}`, CreatePath: apply,
			Want: map[string]any{"postgate": noQuotes, "threadgate": rule("follower")},
		},
		{
			Name: "no quotes of a reply", Options: `{"no_quotes":true}`, Reply: true, Field: "options.no_quotes",
			Code: "set_on_first_post",
		},
		{Name: "labels", Options: `{"labels":["graphic-media","nudity"]}`, Images: 1, Want: map[string]any{
			"labels": []string{"graphic-media", "nudity"},
		}},
		{Name: "unknown label", Options: `{"labels":["spam"]}`, Field: "options.labels[0]", Code: "unknown_value"},
		{Name: "languages", Options: `{"languages":["vi","en-US"]}`, Want: map[string]any{
			"langs": []string{"vi", "en-US"},
		}},
		{
			Name: "four languages", Options: `{"languages":["vi","en","fr","de"]}`, Field: "options.languages",
			Code: "too_many_languages",
		},
		{
			Name: "no language", Options: `{"languages":["tiếng Việt"]}`, Field: "options.languages[0]",
			Code: "not_a_language",
		},
		{Name: "quote", Options: `{"quote":"` + quoted + `"}`, Want: map[string]any{"quote": quoted}},
		{Name: "quote with an image", Options: `{"quote":"` + quoted + `"}`, Images: 1, Want: map[string]any{
			"quote": quoted,
		}},
		{
			Name: "quote of a page", Options: `{"quote":"https://example.com/post"}`, Field: "options.quote",
			Code: "not_a_post_url",
		},
		{Name: "labels of a reply", Options: `{"labels":["graphic-media"]}`, Reply: true, Want: map[string]any{
			"labels": []string{"graphic-media"},
		}},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 2, Want: network.DifferenceMedia},
		{Part: fake.PartReply, Reply: true, Want: network.DifferenceNoReply},
		{Part: fake.PartWarning, Images: 1, Options: `{"labels":["graphic-media"]}`, Want: network.DifferenceNoWarning},
		{Part: fake.PartLanguage, Want: network.DifferenceLanguage},
	}
}
