package fake

import (
	"net/http"
	"regexp"
)

// instagramOptions reads the options of a container, under Instagram's names.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
func instagramOptions(r *http.Request, kind string) (map[string]any, *graphError) {
	options := graphOptions(r, "collaborators")
	for _, name := range []string{"media_type", "location_id", "thumb_offset", "share_to_feed"} {
		if text := r.FormValue(name); text != "" {
			options[name] = text
		}
	}
	names, _ := options["collaborators"].([]any)
	switch {
	case len(names) > 3:
		return nil, graphParameter("collaborators", "must have at most 3 elements")
	case kind == "STORIES" && (options["collaborators"] != nil || options["location_id"] != nil):
		return nil, graphParameter("collaborators", "is not allowed for this media type")
	case (options["thumb_offset"] != nil || options["share_to_feed"] != nil) && kind != "REELS":
		return nil, graphParameter("share_to_feed", "is only allowed for REELS")
	case options["location_id"] != nil && !regexp.MustCompile(`^[0-9]+$`).MatchString(r.FormValue("location_id")):
		return nil, graphParameter("location_id", "is not a valid Page id")
	}
	return options, nil
}

// isStory reports whether a post is listed with the stories, for a day, instead of the
// other posts.
func isStory(p *Post) bool { return p.Options["media_type"] == "STORIES" }
