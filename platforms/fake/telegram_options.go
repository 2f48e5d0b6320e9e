package fake

import (
	"encoding/json"
	"unicode/utf8"
)

// telegramOptions reads the options of a sending method, under Telegram's names.
func telegramOptions(params map[string]string) (options map[string]any, problem string) {
	options = map[string]any{}
	for _, name := range []string{
		"disable_notification", "protect_content", "message_thread_id", "reply_markup", "link_preview_options",
		"has_spoiler", "show_caption_above_media", "options", "open_period", "allows_multiple_answers",
		"hide_results_until_closes",
	} {
		text, ok := params[name]
		if !ok {
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return nil, "can't parse " + name
		}
		options[name] = value
	}
	return options, ""
}

// telegramPollProblem validates a poll (https://core.telegram.org/bots/api#sendpoll).
func telegramPollProblem(params map[string]string) string {
	var choices []struct{ Text string }
	if json.Unmarshal([]byte(params["options"]), &choices) != nil || len(choices) < 1 || len(choices) > 12 {
		return "poll must have at least 1 and at most 12 options"
	}
	for _, one := range choices {
		if n := utf8.RuneCountInString(one.Text); n < 1 || n > 100 {
			return "poll options length must not exceed 100"
		}
	}
	if n := utf8.RuneCountInString(params["question"]); n < 1 || n > 300 {
		return "poll question length must not exceed 300"
	}
	return ""
}
