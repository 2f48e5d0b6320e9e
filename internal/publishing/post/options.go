package post

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Options are a post's requests to networks besides its text and attachments, by the
// network's name: each value is an object whose fields the network's adapter declares
// (network.OptionParser). They are content: changing them changes what is published.
type Options map[string]json.RawMessage

// Networks lists the networks that the options are for.
func (o Options) Networks() []string { return slices.Sorted(maps.Keys(o)) }

// Equal compares the meaning of the options, not their encoding.
func (o Options) Equal(other Options) bool {
	return maps.EqualFunc(o.canonical(), other.canonical(), bytes.Equal)
}

// canonical sorts the fields of every object and drops networks without options.
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

// firstComment returns the comment on the post that the options request; without
// content: none. It is the one option that is not the network's: it is a separate call
// after the post.
func (p Post) firstComment(t Target) Segment {
	var options struct {
		FirstComment struct {
			Content      string `json:"content"`
			AfterMinutes int    `json:"after_minutes"`
		} `json:"first_comment"`
	}
	if raw := p.OptionsFor(t); len(raw) == 0 || json.Unmarshal(raw, &options) != nil {
		return Segment{} // the network's adapter reports what is wrong with them
	}
	return Segment{
		Content: options.FirstComment.Content, AfterMinutes: options.FirstComment.AfterMinutes,
		IsComment: true,
	}
}

// OptionsFor returns the options for a target's network; nil: none.
func (p Post) OptionsFor(t Target) json.RawMessage {
	options := p.Options
	if t.Override != nil && t.Override.Options != nil {
		options = *t.Override.Options
	}
	return options[t.Network]
}
