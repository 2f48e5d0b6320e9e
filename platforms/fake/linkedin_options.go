package fake

import (
	"slices"
	"unicode/utf8"
)

// linkedinPoll is the content of a poll.
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/poll-post-api
type linkedinPoll struct {
	Question string `json:"question"`
	Options  []struct {
		Text string `json:"text"`
	} `json:"options"`
	Settings struct {
		Duration string `json:"duration"`
	} `json:"settings"`
}

func (p *linkedinPoll) problem(media int) string {
	switch {
	case p == nil:
		return ""
	case media > 0:
		return "ERROR :: /content :: is a union with more than one member"
	case utf8.RuneCountInString(p.Question) < 1 || utf8.RuneCountInString(p.Question) > 140:
		return "ERROR :: /content/poll/question :: length must be 1 to 140"
	case len(p.Options) < 2 || len(p.Options) > 4:
		return "ERROR :: /content/poll/options :: 2 to 4 options are allowed"
	case !slices.Contains([]string{"ONE_DAY", "THREE_DAYS", "SEVEN_DAYS", "FOURTEEN_DAYS"}, p.Settings.Duration):
		return "ERROR :: /content/poll/settings/duration :: is not an enum symbol"
	}
	for _, option := range p.Options {
		if n := utf8.RuneCountInString(option.Text); n < 1 || n > 30 {
			return "ERROR :: /content/poll/options/text :: length must be 1 to 30"
		}
	}
	return ""
}

// options are those of a post, under LinkedIn's names.
func (b linkedinBody) options() map[string]any {
	options := map[string]any{"visibility": b.Visibility}
	if b.Content.Poll != nil {
		options["poll"] = b.Content.Poll
	}
	if m := b.Content.Media; m != nil && m.Title != "" {
		options["title"] = m.Title
	}
	if b.NoReshare {
		options["isReshareDisabledByAuthor"] = true
	}
	return options
}
