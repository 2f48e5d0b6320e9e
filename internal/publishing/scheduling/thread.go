package scheduling

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// thread parses the segments after the first.
func (c *check) thread(ctx context.Context, field string, segments []Segment) ([]post.Segment, error) {
	out := make([]post.Segment, 0, len(segments))
	for i, s := range segments {
		ids, err := c.attachments(ctx, fmt.Sprintf("%s[%d].attachments", field, i), s.Attachments)
		if err != nil {
			return nil, err
		}
		if s.AfterMinutes < 0 || s.AfterMinutes > post.MaxAfterMinutes {
			c.add(fmt.Sprintf("%s[%d].after_minutes", field, i), "segment_delay",
				"A segment can follow at most {limit} minutes after the previous one. Use a smaller number.",
				post.MaxAfterMinutes)
		}
		out = append(out, post.Segment{Content: s.Content, AttachmentIDs: ids, AfterMinutes: s.AfterMinutes})
	}
	return out, nil
}

// overrides parses the overrides of a post.
func (c *check) overrides(
	ctx context.Context, in map[string]Override, accounts []uuid.UUID,
) (map[uuid.UUID]*post.Override, error) {
	out := make(map[uuid.UUID]*post.Override, len(in))
	for _, text := range slices.Sorted(maps.Keys(in)) {
		o := in[text]
		id, ok := c.overrideAccount(text, accounts)
		if !ok {
			continue
		}
		if out[id] != nil { // an id can be written in several ways
			c.add("overrides."+id.String(), "duplicate", "The account {account} is listed twice.", id)
			continue
		}
		field := "overrides." + id.String()
		read := &post.Override{Content: o.Content, Options: o.Options}
		if o.Attachments != nil {
			ids, err := c.attachments(ctx, field+".attachments", *o.Attachments)
			if err != nil {
				return nil, err
			}
			read.AttachmentIDs = &ids
		}
		if o.Thread != nil {
			thread, err := c.thread(ctx, field+".thread", *o.Thread)
			if err != nil {
				return nil, err
			}
			read.Thread = &thread
		}
		out[id] = read
	}
	return out, nil
}

// overrideAccount returns the account of an override.
func (c *check) overrideAccount(text string, accounts []uuid.UUID) (uuid.UUID, bool) {
	id, err := uuid.Parse(text)
	switch {
	case err != nil:
		c.add("overrides", "invalid", "{value} is not an account id.", text)
	case c.settled[id]:
		c.add("overrides."+id.String(), "too_late", "The post on account {account} can no longer be changed.", id)
	case !slices.Contains(accounts, id):
		c.add("overrides."+id.String(), "unknown", "The post does not go to the account {account}.", id)
	default:
		return id, true
	}
	return uuid.Nil, false
}

// fieldOfSegment is fieldOf for a segment that may be the first comment.
func fieldOfSegment(i int, s post.Segment, a account.Account, o *post.Override, field string) string {
	if s.IsComment {
		return fieldOf(0, a, o, "options.first_comment."+field)
	}
	return fieldOf(i, a, o, field)
}

// fieldOf converts a field name of an adapter to the path in the request.
func fieldOf(segment int, a account.Account, o *post.Override, field string) string {
	prefix := ""
	if option, ok := strings.CutPrefix(field, "options"); ok {
		if o != nil && o.Options != nil {
			prefix = "overrides." + a.ID.String() + "."
		}
		return prefix + "options." + a.Network + option
	}
	if segment > 0 {
		prefix = fmt.Sprintf("thread[%d].", segment-1)
	}
	overrides := o != nil &&
		(segment > 0 && o.Thread != nil || segment == 0 &&
			(o.Content != nil && field == "content" || o.AttachmentIDs != nil && field != "content"))
	if overrides {
		prefix = "overrides." + a.ID.String() + "." + prefix
	}
	return prefix + field
}
