package fake

import (
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"
)

// mastodonOptions reads the options of a status; problem is Mastodon's message for
// invalid ones (app/validators/poll_validator.rb, config/locales/en.yml).
func mastodonOptions(form url.Values) (options map[string]any, problem string) {
	options = map[string]any{}
	for _, name := range []string{"visibility", "spoiler_text", "quote_approval_policy", "language"} {
		if value := form.Get(name); value != "" {
			options[name] = value
		}
	}
	if form.Get("sensitive") == "true" || form.Get("spoiler_text") != "" {
		options["sensitive"] = true
	}
	if value, ok := options["visibility"]; ok && !slices.Contains([]any{"public", "unlisted", "private", "direct"},
		value) {
		return nil, "Validation failed: Visibility is not included in the list"
	}
	choices := form["poll[options][]"]
	if len(choices) == 0 {
		return options, ""
	}
	seconds, _ := strconv.ParseFloat(form.Get("poll[expires_in]"), 64)
	switch {
	case len(form["media_ids[]"]) > 0:
		return nil, "Cannot attach media to a post with a poll"
	case len(choices) < 2:
		return nil, "Validation failed: Poll options must have more than one item"
	case len(choices) > 4:
		return nil, "Validation failed: Poll options can't contain more than 4 items"
	case slices.ContainsFunc(choices, func(c string) bool { return utf8.RuneCountInString(c) > 50 }):
		return nil, "Validation failed: Poll options can't be longer than 50 characters each"
	case seconds < 300:
		return nil, "Validation failed: Poll expires at is too short"
	case seconds > 2629746:
		return nil, "Validation failed: Poll expires at is too far into the future"
	}
	options["poll"] = map[string]any{
		"options": choices, "expires_in": int(seconds),
		"multiple": form.Get("poll[multiple]") == "true", "hide_totals": form.Get("poll[hide_totals]") == "true",
	}
	return options, ""
}

func spoilerOf(p Post) string {
	text, _ := p.Options["spoiler_text"].(string)
	return text
}

func pollEntity(p Post) any {
	poll, ok := p.Options["poll"].(map[string]any)
	if !ok {
		return nil
	}
	choices := []map[string]any{}
	for _, title := range textsOf(poll["options"]) {
		choices = append(choices, map[string]any{"title": title, "votes_count": 0})
	}
	return map[string]any{"id": p.ID, "expired": false, "multiple": poll["multiple"], "options": choices}
}

// textsOf reads a list of texts, also one that the journal restored.
func textsOf(value any) []string {
	switch list := value.(type) {
	case []string:
		return list
	case []any:
		var texts []string
		for _, one := range list {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}
