package post

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Options are what a post asks of networks besides its text and attachments, by
// the network's name: each value is an object whose fields the network's adapter
// declares (network.OptionParser). They are content: a change of them is a
// change of what is published.
type Options map[string]json.RawMessage

// Networks lists the networks that the options are for.
func (o Options) Networks() []string { return slices.Sorted(maps.Keys(o)) }

// Equal compares what the options say, not how they are written.
func (o Options) Equal(other Options) bool {
	return maps.EqualFunc(o.canonical(), other.canonical(), bytes.Equal)
}

// canonical sorts the fields of every object and drops networks of which nothing
// is asked.
func (o Options) canonical() map[string][]byte {
	out := map[string][]byte{}
	for name, raw := range o {
		var value any
		if json.Unmarshal(raw, &value) != nil {
			out[name] = raw
			continue
		}
		if sorted, err := json.Marshal(value); err == nil && string(sorted) != "{}" && string(sorted) != "null" {
			out[name] = sorted
		}
	}
	return out
}

// firstComment is the comment on the post that the options ask for; without
// content: none. It is the one option that is not the network's: it is a call of
// its own, after the post.
func (p Post) firstComment(t Target) Segment {
	var options struct {
		FirstComment struct {
			Content      string `json:"content"`
			AfterMinutes int    `json:"after_minutes"`
		} `json:"first_comment"`
	}
	if raw := p.OptionsFor(t); len(raw) == 0 || json.Unmarshal(raw, &options) != nil {
		return Segment{} // the network's adapter says what is wrong with them
	}
	return Segment{Content: options.FirstComment.Content, AfterMinutes: options.FirstComment.AfterMinutes, IsComment: true}
}

// OptionsFor returns what the post asks of a target's network; nil: nothing.
func (p Post) OptionsFor(t Target) json.RawMessage {
	options := p.Options
	if t.Override != nil && t.Override.Options != nil {
		options = *t.Override.Options
	}
	return options[t.Network]
}
