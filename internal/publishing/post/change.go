package post

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"
)

// ChangedFrom returns c without the fields that p already has: an editor that saves
// everything it shows has changed only what differs.
func (c Change) ChangedFrom(p Post) Change {
	c.Content = ifChanged(c.Content, p.Content)
	c.TimeZone = ifChanged(c.TimeZone, p.TimeZone)
	c.Language = ifChanged(c.Language, p.Language)
	c.LateLimit = ifChanged(c.LateLimit, p.LateLimit)
	c.LinkBase = ifChanged(c.LinkBase, p.LinkBase)
	c.QueueGroupID = ifChanged(c.QueueGroupID, p.queueGroup())
	if c.UTM != nil && maps.Equal(*c.UTM, p.UTM) {
		c.UTM = nil
	}
	// The database stores microseconds.
	if c.ScheduledTime != nil && c.ScheduledTime.Truncate(time.Microsecond).Equal(p.ScheduledTime) {
		c.ScheduledTime = nil
	}
	if c.AttachmentIDs != nil && slices.Equal(*c.AttachmentIDs, p.AttachmentIDs) {
		c.AttachmentIDs = nil
	}
	if c.Thread != nil && equalThreads(*c.Thread, p.Thread) {
		c.Thread = nil
	}
	if c.Options != nil && c.Options.Equal(p.Options) {
		c.Options = nil
	}
	has := map[uuid.UUID]*Override{}
	for _, t := range p.Targets {
		has[t.AccountID] = t.Override
	}
	if c.AccountIDs != nil && len(*c.AccountIDs) == len(has) &&
		!slices.ContainsFunc(*c.AccountIDs, func(id uuid.UUID) bool { _, ok := has[id]; return !ok }) {
		c.AccountIDs = nil
	}
	c.Overrides = maps.Clone(c.Overrides)
	maps.DeleteFunc(c.Overrides, func(account uuid.UUID, o *Override) bool { return equalOverrides(o, has[account]) })
	return c
}

func ifChanged[T comparable](changed *T, has T) *T {
	if changed != nil && *changed == has {
		return nil
	}
	return changed
}

func equalThreads(a, b []Segment) bool {
	return slices.EqualFunc(a, b, func(a, b Segment) bool {
		return a.Content == b.Content && a.AfterMinutes == b.AfterMinutes &&
			slices.Equal(a.AttachmentIDs, b.AttachmentIDs)
	})
}

// equalOverrides treats an override without changes as no override.
func equalOverrides(a, b *Override) bool {
	x, y := a.normalized(), b.normalized()
	if (x.Options == nil) != (y.Options == nil) || x.Options != nil && !x.Options.Equal(*y.Options) {
		return false
	}
	x.Options, y.Options = nil, nil
	return reflect.DeepEqual(x, y)
}

// normalized returns o with one form for each state, so that overrides can be compared.
func (o *Override) normalized() Override {
	if o == nil {
		return Override{}
	}
	out := Override{Content: o.Content, Options: o.Options}
	if o.AttachmentIDs != nil {
		ids := slices.Concat([]uuid.UUID{}, *o.AttachmentIDs)
		out.AttachmentIDs = &ids
	}
	if o.Thread != nil {
		thread := make([]Segment, len(*o.Thread))
		for i, s := range *o.Thread {
			thread[i] = Segment{
				Content: s.Content, AfterMinutes: s.AfterMinutes,
				AttachmentIDs: slices.Concat([]uuid.UUID{}, s.AttachmentIDs),
			}
		}
		out.Thread = &thread
	}
	return out
}

func (p Post) queueGroup() uuid.UUID {
	if p.QueueGroupID == nil {
		return uuid.Nil
	}
	return *p.QueueGroupID
}
