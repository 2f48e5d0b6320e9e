// Package timeline renders a post's events as sentences for its authors. The content is
// chosen here, once for all languages; the wording is in a Language.
package timeline

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

// Entry is one rendered event of a timeline.
type Entry struct {
	At     time.Time // in the post's zone
	Type   string
	Actor  string
	Target *post.Target // nil: about the whole post
	Text   string
	Data   map[string]any
}

// Render renders events in order. It omits edits of drafts.
func Render(l Language, p post.Post, events []post.Event) []Entry {
	zone, err := timezone.Load(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	entries := make([]Entry, 0, len(events))
	for _, e := range events {
		t := renderer{language: l, post: p, zone: zone, event: e, data: map[string]any{}}
		if len(e.Data) > 0 {
			_ = json.Unmarshal(e.Data, &t.data) // data that is not an object has no values
		}
		if draft, _ := t.data[post.EditedDraft].(bool); draft && e.Type == post.EventEdited {
			continue // drafts are saved while a user types
		}
		entry := Entry{At: e.At.In(zone), Type: e.Type, Actor: e.Actor, Text: t.sentence(), Data: t.data}
		if t.data == nil {
			entry.Data = map[string]any{}
		}
		if target, ok := t.target(); ok {
			entry.Target = &target
		}
		entries = append(entries, entry)
	}
	return entries
}

// renderer finds the words for one event.
type renderer struct {
	language Language
	post     post.Post
	zone     *time.Location
	event    post.Event
	data     map[string]any
}

func (t renderer) target() (post.Target, bool) {
	if t.event.TargetID == nil {
		return post.Target{}, false
	}
	return t.byID(*t.event.TargetID)
}

func (t renderer) byID(id uuid.UUID) (post.Target, bool) {
	for _, target := range t.post.Targets {
		if target.ID == id || target.AccountID == id {
			return target, true
		}
	}
	return post.Target{}, false
}

// sentence returns the message for the event's type and variant, else for its type
// alone, else for any event.
func (t renderer) sentence() string {
	messages := t.language.Messages
	message, ok := "", false
	for _, variant := range t.variants() {
		if message, ok = messages[t.event.Type+"."+variant]; ok && variant != "" {
			break
		}
	}
	if !ok {
		if message, ok = messages[t.event.Type]; !ok {
			message = messages[Unknown]
		}
	}
	return strings.Join(strings.Fields(fill(message, t.value)), " ")
}

// variants lists the possible suffixes of an event's type, best first.
func (t renderer) variants() []string {
	switch t.event.Type {
	case post.EventPosted, post.EventSegment:
		if late, ok := t.number("late_ms"); ok && late <= 0 {
			return []string{"on_time"}
		}
	case post.EventReconciled:
		if found, _ := t.data["found"].(bool); found {
			return []string{"found"}
		}
		return []string{"absent"}
	case post.EventSending:
		if n, _ := t.number("epoch"); n > 1 {
			return []string{"again"}
		}
	case post.EventStatus:
		return []string{t.text("status")}
	case post.EventRedriven:
		return []string{t.text("reason")}
	case post.EventEdited:
		if t.changes() == "" {
			return []string{"nothing"}
		}
	case post.EventRefused:
		return []string{t.text("asked"), t.text("code")}
	case post.EventCanceled:
		if remaining, _ := t.data[post.CanceledRemaining].(bool); remaining {
			return []string{"remaining"}
		}
		return []string{t.event.Actor}
	case post.EventPublishNow, post.EventCreated, post.EventSubmitted:
		return []string{t.event.Actor}
	}
	return []string{t.text("code"), t.text("class")}
}

// value returns the value of a placeholder, or "" if it is unknown.
func (t renderer) value(name string) string {
	switch name {
	case "type":
		return t.event.Type
	case "handle":
		if target, ok := t.target(); ok {
			return target.Handle
		}
		return t.language.Messages[Account]
	case "late":
		if late, ok := t.number("late_ms"); ok {
			return t.language.Seconds(time.Duration(late) * time.Millisecond)
		}
		return ""
	case "seconds":
		if n, ok := t.number("seconds"); ok {
			return t.language.Seconds(time.Duration(n * float64(time.Second)))
		}
		return ""
	case "number": // of a segment, for people
		if n, ok := t.number("segment"); ok {
			return formatNumber(n + 1)
		}
		return ""
	case "scheduled_time":
		if at, ok := t.time(name); ok {
			return t.language.Day(at) + " " + at.Format(timeLayout) + " (" + t.zone.String() + ")"
		}
		return ""
	case "sent", "planned", "answered", "retry_at", "until":
		return t.when(name)
	case "changes":
		return t.changes()
	case "accounts", "targets":
		return t.handles(name)
	case "attachments":
		return t.count(name)
	case "evidence":
		return lowerFirst(t.text(name))
	default:
		return t.text(name)
	}
}

const timeLayout = "15:04:05.000"

// when shows a time, with its day when that is not the day of the event.
func (t renderer) when(name string) string {
	at, ok := t.time(name)
	if !ok {
		return ""
	}
	if at.Format(time.DateOnly) == t.event.At.In(t.zone).Format(time.DateOnly) {
		return at.Format(timeLayout)
	}
	return t.language.Day(at) + " " + at.Format(timeLayout)
}

func (t renderer) time(name string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339Nano, t.text(name))
	return at.In(t.zone), err == nil && !at.IsZero()
}

func (t renderer) text(name string) string {
	switch v := t.data[name].(type) {
	case string:
		return v
	case float64:
		return formatNumber(v)
	default:
		return ""
	}
}

func (t renderer) number(name string) (float64, bool) {
	n, ok := t.data[name].(float64)
	return n, ok
}

// handles names accounts: by their ids or their targets' ids, or by their
// number.
func (t renderer) handles(name string) string {
	list, ok := t.data[name].([]any)
	if !ok {
		return t.count("accounts_of_" + name)
	}
	var handles []string
	for _, one := range list {
		text, _ := one.(string)
		if id, err := uuid.Parse(text); err == nil {
			if target, ok := t.byID(id); ok {
				handles = append(handles, target.Handle)
			}
		}
	}
	return t.language.List(handles)
}

// count formats a number of items, or returns "" for none.
func (t renderer) count(name string) string {
	field, noun := name, name
	if rest, ok := strings.CutPrefix(name, "accounts_of_"); ok {
		field, noun = rest, "accounts"
	}
	n, ok := t.number(field)
	if list, isList := t.data[field].([]any); isList {
		n, ok = float64(len(list)), true
	}
	if !ok || n < 1 {
		return ""
	}
	return t.language.Count(int(n), noun)
}

// changes lists what an edit changed.
func (t renderer) changes() string {
	var list []string
	for _, field := range []string{"content", "scheduled_time", "time_zone", "language", "attachments", "media", "thread", "options", "overrides", "accounts", "track_links", "drop_if_late_minutes"} {
		if _, ok := t.data[field]; ok {
			if words := fill(t.language.Messages["change."+field], t.value); words != "" {
				list = append(list, words)
			}
		}
	}
	return t.language.List(list)
}
