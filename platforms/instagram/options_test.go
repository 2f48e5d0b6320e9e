package instagram_test

import (
	"dateline/platforms/fake"
	"dateline/platforms/network"
	"dateline/platforms/platformtest"
)

func optionCases() []platformtest.OptionCase {
	return []platformtest.OptionCase{
		{Name: "feed", Options: `{"kind":"feed"}`, Images: 1, Want: map[string]any{"media_type": nil}},
		{
			Name:    "carousel",
			Options: `{"kind":"feed","collaborators":["vnnews","@desk.hn"],"location_id":"106324046073002"}`, Images: 2,
			Want: map[string]any{
				"media_type": "CAROUSEL", "collaborators": []string{"vnnews", "desk.hn"},
				"location_id": "106324046073002",
			},
		},
		{Name: "collaborators", Options: `{"collaborators":["vnnews"]}`, Images: 1, Want: map[string]any{
			"collaborators": []string{"vnnews"},
		}},
		{
			Name: "four collaborators", Options: `{"collaborators":["a","b","c","d"]}`, Images: 1,
			Field: "options.collaborators", Code: "too_many_collaborators",
		},
		{
			Name: "collaborator with a space", Options: `{"collaborators":["vn news"]}`, Images: 1,
			Field: "options.collaborators[0]", Code: "not_a_user_name",
		},
		{Name: "location", Options: `{"location_id":"106324046073002"}`, Images: 1, Want: map[string]any{
			"location_id": "106324046073002",
		}},
		{
			Name: "location by name", Options: `{"location_id":"Hà Nội"}`, Images: 1, Field: "options.location_id",
			Code: "not_a_place",
		},
		{Name: "story", Options: `{"kind":"story"}`, Images: 1, NoText: true, Want: map[string]any{
			"media_type": "STORIES",
		}},
		{Name: "story video", Options: `{"kind":"story"}`, Video: true, NoText: true, Want: map[string]any{
			"media_type": "STORIES",
		}},
		{
			Name: "story of two images", Options: `{"kind":"story"}`, Images: 2, Field: "options.kind",
			Code: "story_media",
		},
		{
			Name: "story with collaborators", Options: `{"kind":"story","collaborators":["vnnews"]}`, Images: 1,
			Field: "options.collaborators", Code: "story_collaborators",
		},
		{
			Name: "story with a location", Options: `{"kind":"story","location_id":"1"}`, Images: 1,
			Field: "options.location_id", Code: "story_location",
		},
		{Name: "reel", Options: `{"kind":"reel"}`, Video: true, Want: map[string]any{
			"media_type": "REELS", "share_to_feed": "true",
		}},
		{
			Name:    "reel that is not in the feed",
			Options: `{"kind":"reel","share_to_feed":false,"cover_millis":500,"collaborators":["vnnews"]}`, Video: true,
			Want: map[string]any{
				"media_type": "REELS", "share_to_feed": "false", "thumb_offset": "500",
				"collaborators": []string{"vnnews"},
			},
		},
		{Name: "reel of an image", Options: `{"kind":"reel"}`, Images: 1, Field: "options.kind", Code: "reel_media"},
		{Name: "feed video", Options: `{"kind":"feed"}`, Video: true, Field: "options.kind", Code: "video_is_reel"},
		{
			Name: "image that is not in the feed", Options: `{"share_to_feed":false}`, Images: 1,
			Field: "options.share_to_feed", Code: "only_reel_leaves_feed",
		},
		{
			Name: "cover of an image", Options: `{"cover_millis":500}`, Images: 1, Field: "options.cover_millis",
			Code: "only_reel_has_cover",
		},
		{Name: "first comment", Options: `{"first_comment":{"content":"Nguồn: VN News","after_minutes":5}}`, Images: 1},
		{
			Name: "late first comment", Options: `{"first_comment":{"content":"Nguồn","after_minutes":1441}}`,
			Images: 1,
			Field:  "options.first_comment.after_minutes", Code: "comment_delay",
		},
		{Name: "unknown kind", Options: `{"kind":"igtv"}`, Images: 1, Field: "options.kind", Code: "unknown_value"},
	}
}

// compared are the parts of a post that the adapter compares.
func compared() []platformtest.Compared {
	return []platformtest.Compared{
		{Part: fake.PartText, Want: network.DifferenceCut},
		{Part: fake.PartMedia, Images: 3, Want: network.DifferenceMedia},
	}
}
