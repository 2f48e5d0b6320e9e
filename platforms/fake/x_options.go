package fake

import (
	"slices"
	"unicode/utf8"
)

// xOptions are the options of POST /2/tweets.
type xOptions struct {
	ReplySettings string `json:"reply_settings"`
	Poll          *struct {
		Options         []string `json:"options"`
		DurationMinutes int      `json:"duration_minutes"`
	} `json:"poll"`
	MadeWithAI      bool `json:"made_with_ai"`
	PaidPartnership bool `json:"paid_partnership"`
}

// received are the options under X's names; problem says what is invalid.
func (o xOptions) received(media int) (options map[string]any, problem string) {
	options = map[string]any{}
	if o.ReplySettings != "" {
		if !slices.Contains([]string{"following", "mentionedUsers", "subscribers", "verified"}, o.ReplySettings) {
			return nil, "The `reply_settings` value is not valid"
		}
		options["reply_settings"] = o.ReplySettings
	}
	if o.Poll != nil {
		switch {
		case media > 0:
			return nil, "Poll and media are mutually exclusive"
		case len(o.Poll.Options) < 2 || len(o.Poll.Options) > 4:
			return nil, "The number of poll options must be between 2 and 4"
		case slices.ContainsFunc(o.Poll.Options,
			func(c string) bool { return c == "" || utf8.RuneCountInString(c) > 25 }):
			return nil, "A poll option must have between 1 and 25 characters"
		case o.Poll.DurationMinutes < 5 || o.Poll.DurationMinutes > 10080:
			return nil, "The `poll.duration_minutes` must be between 5 and 10080"
		}
		options["poll"] = map[string]any{"options": o.Poll.Options, "duration_minutes": o.Poll.DurationMinutes}
	}
	for name, chosen := range map[string]bool{"made_with_ai": o.MadeWithAI, "paid_partnership": o.PaidPartnership} {
		if chosen {
			options[name] = true
		}
	}
	return options, ""
}
