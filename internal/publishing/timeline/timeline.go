// Package timeline renders a post's events as sentences for its authors. The content is
// chosen here, once for all languages; the wording is in a Language.
package timeline

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
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
	Code   string         // the key of the message, see Language
	Params message.Params // the values in the message
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
		code, template := t.message()
		entry := Entry{
			At: e.At.In(zone), Type: e.Type, Actor: e.Actor, Text: t.sentence(template), Code: code,
			Params: t.params(template), Data: t.data,
		}
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

// message returns the message for the event's type and variant, else for its type
// alone, else for any event.
func (t renderer) message() (key, template string) {
	messages := t.language.Messages
	for _, variant := range t.variants() {
		key := t.event.Type + "." + variant
		if template, ok := messages[key]; ok && variant != "" {
			return key, template
		}
	}
	if template, ok := messages[t.event.Type]; ok {
		return t.event.Type, template
	}
	return Unknown, messages[Unknown]
}

func (t renderer) sentence(template string) string {
	return strings.Join(strings.Fields(message.Fill(template, t.text)), " ")
}

// params returns the values of a message that are known. The code of an error, with its
// own values, identifies its sentence.
func (t renderer) params(template string) message.Params {
	params := message.Params{}
	names := message.Names(template)
	if slices.Contains(names, "changes") {
		fields := t.changed()
		params["changes"] = fields
		for _, field := range fields {
			names = append(names, message.Names(t.language.Messages["change."+field])...)
		}
	}
	for _, name := range names {
		switch v := t.value(name).(type) {
		case nil:
		case time.Time:
			params[name] = v.Format("2006-01-02T15:04:05.000Z07:00")
		case time.Duration:
			params[name] = v.Seconds()
		default:
			params[name] = v
		}
	}
	if _, ok := params[post.Evidence]; ok {
		if parts := t.evidence(); len(parts) > 0 {
			params[post.EvidenceParts] = parts
		}
	}
	if _, ok := params["message"]; ok {
		if code := t.string("code"); code != "" {
			params["message_code"] = code
		}
		if values, ok := t.data["params"].(map[string]any); ok {
			params["message_params"] = values
		}
	}
	return params
}

// evidence returns the codes and values of what was found, with times in the post's
// zone.
func (t renderer) evidence() []message.Params {
	all, _ := t.data[post.EvidenceParts].([]any)
	parts := make([]message.Params, 0, len(all))
	for _, one := range all {
		part, ok := one.(map[string]any)
		if !ok {
			continue
		}
		part = maps.Clone(part)
		if values, ok := part["params"].(map[string]any); ok {
			values = maps.Clone(values)
			for name, value := range values {
				text, _ := value.(string)
				if at, err := time.Parse(time.RFC3339, text); err == nil && strings.HasSuffix(name, "_at") {
					values[name] = at.In(t.zone).Format(time.RFC3339)
				}
			}
			part["params"] = values
		}
		parts = append(parts, part)
	}
	return parts
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
		return []string{t.string("status")}
	case post.EventRedriven:
		return []string{t.string("reason")}
	case post.EventEdited:
		if t.changes() == "" {
			return []string{"nothing"}
		}
	case post.EventRezoned:
		if held, _ := t.data["held"].(bool); held {
			return []string{"held"}
		}
	case post.EventRefused:
		return []string{t.string("asked"), t.string("code")}
	case post.EventCanceled:
		if remaining, _ := t.data[post.CanceledRemaining].(bool); remaining {
			return []string{"remaining"}
		}
		return []string{t.event.Actor}
	case post.EventPublishNow, post.EventCreated, post.EventSubmitted:
		return []string{t.event.Actor}
	}
	return []string{t.string("code"), t.string("class")}
}

// value returns the value of a placeholder, or nil if it is unknown: a string, a number,
// a time, a duration or a list.
func (t renderer) value(name string) any {
	switch name {
	case "type":
		return t.event.Type
	case "handle":
		if target, ok := t.target(); ok {
			return target.Handle
		}
		return nil
	case "late_seconds":
		return t.duration("late_ms", time.Millisecond)
	case "behind_seconds":
		return t.duration("seconds", time.Second)
	case "number": // of a segment, for people
		if n, ok := t.number("segment"); ok {
			return n + 1
		}
		return nil
	case "scheduled_at":
		return t.time("scheduled_time")
	case "before_at", "after_at", "sent_at", "planned_at", "answered_at", "until_at":
		return t.time(strings.TrimSuffix(name, "_at"))
	case "retry_at":
		return t.time(name)
	case "accounts", "targets":
		return t.handles(name)
	case "count":
		return t.count("targets")
	case "attachments":
		return t.count(name)
	case post.Evidence:
		return orNil(lowerFirst(t.string(name)))
	default:
		if n, ok := t.number(name); ok {
			return n
		}
		return orNil(t.string(name))
	}
}

// text returns the value of a placeholder in words, or "" if it is unknown.
func (t renderer) text(name string) string {
	if name == "changes" {
		return t.changes()
	}
	switch v := t.value(name).(type) {
	case nil:
		if name == "handle" {
			return t.language.Messages[Account]
		}
		return ""
	case time.Time:
		return t.timeText(name, v)
	case time.Duration:
		return t.language.Seconds(v)
	case []string:
		return t.language.List(v)
	case float64:
		return formatNumber(v)
	case int:
		return strconv.Itoa(v)
	default:
		return v.(string)
	}
}

const timeLayout = "15:04:05.000"

// timeText shows a time, with its day when that is not the day of the event.
func (t renderer) timeText(name string, at time.Time) string {
	switch {
	case name == "scheduled_at":
		return t.language.Day(at) + " " + at.Format(timeLayout) + " (" + t.zone.String() + ")"
	case at.Format(time.DateOnly) == t.event.At.In(t.zone).Format(time.DateOnly):
		return at.Format(timeLayout)
	default:
		return t.language.Day(at) + " " + at.Format(timeLayout)
	}
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (t renderer) time(name string) any {
	at, err := time.Parse(time.RFC3339Nano, t.string(name))
	if err != nil || at.IsZero() {
		return nil
	}
	return at.In(t.zone)
}

func (t renderer) duration(name string, unit time.Duration) any {
	if n, ok := t.number(name); ok {
		return time.Duration(n * float64(unit))
	}
	return nil
}

func (t renderer) string(name string) string {
	text, _ := t.data[name].(string)
	return text
}

func (t renderer) number(name string) (float64, bool) {
	n, ok := t.data[name].(float64)
	return n, ok
}

// handles names accounts by their ids or their targets' ids.
func (t renderer) handles(name string) any {
	list, _ := t.data[name].([]any)
	var handles []string
	for _, one := range list {
		text, _ := one.(string)
		if id, err := uuid.Parse(text); err == nil {
			if target, ok := t.byID(id); ok {
				handles = append(handles, target.Handle)
			}
		}
	}
	if len(handles) == 0 {
		return nil
	}
	return handles
}

// count returns a number of items, or nil for none.
func (t renderer) count(name string) any {
	n, _ := t.number(name)
	if n < 1 {
		return nil
	}
	return int(n)
}

// changed lists the fields that an edit changed.
func (t renderer) changed() []string {
	var fields []string
	for _, field := range []string{
		"content", "scheduled_time", "time_zone", "language", "attachments", "media",
		"thread", "options", "overrides", "accounts", "track_links", "utm", "drop_if_late_minutes",
	} {
		if _, ok := t.data[field]; ok && message.Fill(t.language.Messages["change."+field], t.text) != "" {
			fields = append(fields, field)
		}
	}
	return fields
}

// changes describes what an edit changed.
func (t renderer) changes() string {
	fields := t.changed()
	words := make([]string, len(fields))
	for i, field := range fields {
		words[i] = message.Fill(t.language.Messages["change."+field], t.text)
	}
	return t.language.List(words)
}
