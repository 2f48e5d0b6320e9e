package fake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// graphOptions reads parameters of a container, as JSON where they are.
func graphOptions(r *http.Request, names ...string) map[string]any {
	options := map[string]any{}
	for _, name := range names {
		text := r.FormValue(name)
		if text == "" {
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		options[name] = value
	}
	return options
}

func graphParameter(name, problem string) *graphError {
	return &graphError{Message: "(#100) Param " + name + " " + problem, Code: 100}
}

// threadsOptions reads the options of a container.
// https://developers.facebook.com/docs/threads/reference/publishing
func threadsOptions(r *http.Request, created *graphContainer) *graphError {
	created.Options = graphOptions(r, "poll_attachment", "is_spoiler_media", "text_entities")
	for _, name := range []string{"reply_control", "topic_tag"} {
		if text := r.FormValue(name); text != "" {
			created.Options[name] = text
		}
	}
	control, tag := r.FormValue("reply_control"), r.FormValue("topic_tag")
	switch {
	case control != "" && !slices.Contains([]string{
		"everyone", "accounts_you_follow", "mentioned_only",
		"parent_post_author_only", "followers_only",
	}, control):
		return graphParameter("reply_control", "must be one of {EVERYONE, ACCOUNTS_YOU_FOLLOW, MENTIONED_ONLY}")
	case utf8.RuneCountInString(tag) > 50 || strings.ContainsAny(tag, ".&"):
		return graphParameter("topic_tag", "is not a valid topic")
	}
	poll, ok := created.Options["poll_attachment"].(map[string]any)
	if !ok {
		return nil
	}
	if created.Type != "TEXT" || len(poll) < 2 || len(poll) > 4 {
		return graphParameter("poll_attachment", "is only allowed on TEXT posts, with 2 to 4 options")
	}
	for _, option := range poll {
		if text, _ := option.(string); text == "" || utf8.RuneCountInString(text) > 25 {
			return graphParameter("poll_attachment", "has an option that is not 1 to 25 characters long")
		}
	}
	return nil
}
