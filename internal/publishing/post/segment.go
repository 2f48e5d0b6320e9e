package post

import (
	"encoding/json"

	"github.com/google/uuid"
)

// Segment is one part of a thread; a post that is not a thread has one.
type Segment struct {
	Content       string      `json:"content"`
	AttachmentIDs []uuid.UUID `json:"attachment_ids,omitempty"`
	// AfterMinutes delays a segment: it is sent that long after the previous one.
	AfterMinutes int `json:"after_minutes,omitempty"`
	// IsComment means that the post counts as published without the segment: it is the
	// first comment that the options request.
	IsComment bool `json:"-"`
}

// MaxAfterMinutes bounds Segment.AfterMinutes.
const MaxAfterMinutes = 24 * 60

// Override is the content of a post that differs on one account. Each field has three
// states: nil inherits the post's value, also when that changes later; an empty value
// means none on this account; anything else replaces the post's value.
type Override struct {
	Content       *string      `json:"content,omitempty"`
	AttachmentIDs *[]uuid.UUID `json:"attachment_ids,omitempty"`
	Thread        *[]Segment   `json:"thread,omitempty"` // what follows the first segment
	Options       *Options     `json:"options,omitempty"`
}

// MarshalJSON writes an empty list as [], never as null: null would be read back as
// inherited.
func (o Override) MarshalJSON() ([]byte, error) {
	type plain Override // without this method
	if o.AttachmentIDs != nil && *o.AttachmentIDs == nil {
		o.AttachmentIDs = &[]uuid.UUID{}
	}
	if o.Thread != nil && *o.Thread == nil {
		o.Thread = &[]Segment{}
	}
	if o.Options != nil && *o.Options == nil {
		o.Options = &Options{}
	}
	return json.Marshal(plain(o))
}

// originalSegments returns the author's segments for one target, in order.
func (p Post) originalSegments(t Target) []Segment {
	segments := p.threadFor(t)
	if comment := p.firstComment(t); comment.Content != "" {
		segments = append(segments, comment)
	}
	return segments
}

// threadFor is originalSegments without the first comment, for which options are parsed.
func (p Post) threadFor(t Target) []Segment {
	first, rest := Segment{Content: p.Content, AttachmentIDs: p.AttachmentIDs}, p.Thread
	if o := t.Override; o != nil {
		if o.Content != nil {
			first.Content = *o.Content
		}
		if o.AttachmentIDs != nil {
			first.AttachmentIDs = *o.AttachmentIDs
		}
		if o.Thread != nil {
			rest = *o.Thread
		}
	}
	return append([]Segment{first}, rest...)
}

// MediaIDs lists the attachments of all targets and segments, each once.
func (p Post) MediaIDs() []uuid.UUID {
	seen := map[uuid.UUID]bool{}
	var ids []uuid.UUID
	add := func(segments []Segment) {
		for _, s := range segments {
			for _, id := range s.AttachmentIDs {
				if !seen[id] {
					seen[id] = true
					ids = append(ids, id)
				}
			}
		}
	}
	add(p.threadFor(Target{})) // a first comment has none
	for _, t := range p.Targets {
		add(p.threadFor(t))
	}
	return ids
}
