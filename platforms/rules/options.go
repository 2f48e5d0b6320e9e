package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"dateline/platforms/network"
)

// ParseOptions reads a network's options into the struct that its adapter
// declares. name is the network's display name.
func ParseOptions[T network.PostOptions](name string, raw json.RawMessage) (network.PostOptions, []network.Violation) {
	var options T
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&options)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return options, nil
		}
		err = errors.New("it is not one JSON object")
	}
	field := "options"
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		field += "." + wrong.Field
	}
	if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		option := strings.Trim(unknown, `"`)
		return nil, []network.Violation{
			network.NewViolation(field+"."+option, "unknown_option", `{network} has no option "{option}". Remove it.`,
				name, option),
		}
	}
	return nil, []network.Violation{
		network.NewViolation(field, "unreadable_options", "The options for {network} cannot be read: {reason}.", name,
			err),
	}
}

// Options collects the problems of a network's options.
type Options struct {
	Name     string // the network's display name
	Problems []network.Violation
}

// Add adds a problem with an option. field is its path below the options; template is
// that of message.Format.
func (o *Options) Add(field, code, template string, args ...any) {
	o.Problems = append(o.Problems, network.NewViolation("options."+field, code, template, args...))
}

// OneOf refuses a value that is not among those allowed. Empty is not chosen.
func (o *Options) OneOf(field, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		o.Add(field, "unknown_value", `{network} does not know "{value}" here. Use {allowed}.`, o.Name, value, allowed)
	}
}

// MaxRunes refuses a text that is too long, or invalid.
func (o *Options) MaxRunes(field, text string, limit int) {
	switch count := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		o.Add(field, "invalid_text", "The text must be valid UTF-8 without NUL.")
	case count > limit:
		o.Add(field, "too_long", "The text has {used} characters; {by} allows {limit}. Shorten it.", count, o.Name,
			limit)
	}
}

// HTTPS refuses anything but a public web URL.
func (o *Options) HTTPS(field, address string) {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") ||
		strings.ContainsAny(address, " \t\r\n\x00") || len(address) > 2000 {
		o.Add(field, "invalid_url", "Enter a complete address that begins with https://.")
	}
}

// maxCommentMinutes is post.MaxAfterMinutes.
const maxCommentMinutes = 24 * 60

// FirstComment checks a comment on the post itself. Its text is checked as a
// reply's.
func (o *Options) FirstComment(comment *network.FirstComment) {
	switch {
	case comment == nil:
	case strings.TrimSpace(comment.Content) == "":
		o.Add("first_comment.content", "empty_comment", "The first comment is empty. Write it or remove it.")
	case comment.AfterMinutes < 0 || comment.AfterMinutes > maxCommentMinutes:
		o.Add("first_comment.after_minutes", "comment_delay",
			"The first comment can follow at most {limit} minutes after the post.", maxCommentMinutes)
	}
}

// Poll checks a poll. minutes 0 is the network's default where limits name one.
func (o *Options) Poll(question string, choices []string, minutes int, limits network.PollLimits) {
	if limits.MaxChoices == 0 {
		o.Add("poll", "no_polls", "{network} has no polls. Remove the poll.", o.Name)
		return
	}
	if limits.MaxQuestion > 0 {
		if strings.TrimSpace(question) == "" {
			o.Add("poll.question", "no_question", "A poll on {network} needs a question.", o.Name)
		}
		o.MaxRunes("poll.question", question, limits.MaxQuestion)
	}
	if len(choices) < limits.MinChoices || len(choices) > limits.MaxChoices {
		o.Add("poll.choices", "choice_count", "The poll has {used} choices; {network} allows {min} to {max}.",
			len(choices), o.Name, limits.MinChoices, limits.MaxChoices)
	}
	seen := map[string]bool{}
	for i, choice := range choices {
		field := fmt.Sprintf("poll.choices[%d]", i)
		text := strings.TrimSpace(choice)
		switch {
		case text == "":
			o.Add(field, "empty_choice", "Choice {number} of the poll is empty. Fill it in or remove it.", i+1)
		case seen[text]:
			o.Add(field, "equal_choices", "Two choices of the poll are equal. Change one of them.")
		}
		seen[text] = true
		o.MaxRunes(field, choice, limits.MaxChoiceCharacters)
	}
	if limits.MaxMinutes > 0 && (minutes < limits.MinMinutes || minutes > limits.MaxMinutes) {
		o.Add("poll.duration_minutes", "poll_duration",
			"The poll would be open for {used} minutes; {network} allows {min} to {max}.", minutes, o.Name,
			limits.MinMinutes, limits.MaxMinutes)
	}
}
