package network

import "encoding/json"

// PostOptions are a post's requests to one network besides its text and attachments: a
// visibility, a poll, who may reply. Each adapter declares its own struct, whose JSON
// is the network's part of a post's options in the API. Its values have one JSON form
// only, because it identifies the sent content.
type PostOptions interface {
	// Following returns the options of the segments that follow the first one of
	// a thread; nil: none.
	Following() PostOptions
}

// OptionParser is a Network whose posts have options.
type OptionParser interface {
	// ParseOptions reads options strictly and does no I/O. The Field of a
	// Violation is a path that begins with "options.". Options that contradict the
	// content are refused by Check, to which they are passed with it.
	ParseOptions(raw json.RawMessage) (PostOptions, []Violation)
}

// FirstComment is an option of networks whose replies are comments: a comment on the
// post, which is a separate call. Adapters declare it and receive it as a reply.
type FirstComment struct {
	Content      string `json:"content"`
	AfterMinutes int    `json:"after_minutes,omitempty"`
}

// PollLimits are a network's limits for polls. The zero value allows none.
type PollLimits struct {
	MinChoices          int
	MaxChoices          int
	MaxChoiceCharacters int
	MaxQuestion         int // characters; 0: the poll has no question of its own
	MinMinutes          int
	MaxMinutes          int // 0: the duration cannot be chosen
}
