package site

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

// Event is an event that a site declares. Others are not counted.
type Event struct {
	Name       string   `json:"name"`
	Properties []string `json:"properties"`
}

// Goal is what a site wants its readers to do: cause an event, or read a page.
type Goal struct {
	Name  string `json:"name"`
	Event string `json:"event,omitempty"`
	Page  string `json:"page,omitempty"` // a page's name; * stands for any text
}

// Limits of a site.
const (
	maxEvents     = 50
	maxProperties = 10 // of an event
	maxGoals      = 50
	maxPageGoal   = 200 // bytes
)

const maxEventName = 60 // characters

// isEventName reports whether a text has the form of names of events, properties
// and goals.
func isEventName(s string) bool {
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxEventName {
		return false
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) &&
			(i == 0 || !strings.ContainsRune(" _.:-", r)) {
			return false
		}
	}
	return true
}

// DeclaredEvent returns a declared event.
func (s *Site) DeclaredEvent(name string) (Event, bool) {
	i := slices.IndexFunc(s.Events, func(e Event) bool { return e.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return s.Events[i], true
}

// validateEvents returns the errors of events and goals.
func (s *Site) validateEvents() []apperr.FieldError {
	var problems []apperr.FieldError
	wrong := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	const form = "Must have 1 to 60 letters, digits, spaces or one of _ . : - and start with a letter or digit."
	if len(s.Events) > maxEvents {
		wrong("events", "too_many", fmt.Sprintf("At most %d events.", maxEvents))
	}
	if len(s.Goals) > maxGoals {
		wrong("goals", "too_many", fmt.Sprintf("At most %d goals.", maxGoals))
	}
	names := map[string]bool{
		string(counter.View): true, string(counter.Click): true, string(counter.Conversion): true,
		"heartbeat": true,
	}
	for i, e := range s.Events {
		field := fmt.Sprintf("events[%d].", i)
		switch {
		case !isEventName(e.Name):
			wrong(field+"name", "invalid", form)
		case names[e.Name]:
			wrong(field+"name", "duplicate",
				"Each name may be declared once; view, click, conversion and heartbeat are built in.")
		}
		names[e.Name] = true
		if len(e.Properties) > maxProperties {
			wrong(field+"properties", "too_many", fmt.Sprintf("At most %d properties.", maxProperties))
		}
		for j, p := range e.Properties {
			switch {
			case !isEventName(p):
				wrong(fmt.Sprintf("%sproperties[%d]", field, j), "invalid", form)
			case slices.Index(e.Properties, p) < j:
				wrong(fmt.Sprintf("%sproperties[%d]", field, j), "duplicate", "Each property may be declared once.")
			}
		}
	}
	goals := map[string]bool{}
	for i, g := range s.Goals {
		field := fmt.Sprintf("goals[%d].", i)
		switch {
		case !isEventName(g.Name):
			wrong(field+"name", "invalid", form)
		case goals[g.Name]:
			wrong(field+"name", "duplicate", "Each name may be used once.")
		}
		goals[g.Name] = true
		_, declared := s.DeclaredEvent(g.Event)
		switch {
		case (g.Event == "") == (g.Page == ""):
			wrong(field+"event", "required", "Name either a declared event or a page.")
		case g.Event != "" && !declared && g.Event != string(counter.Conversion):
			wrong(field+"event", "unknown", "Declare the event first, or use conversion.")
		case g.Page != "" && (len(g.Page) > maxPageGoal || !utf8.ValidString(g.Page) ||
			strings.ContainsRune(g.Page, 0) || strings.Trim(g.Page, "*/") == "" && g.Page != "/"):
			wrong(field+"page", "invalid", "Must be a page's name of at most 200 bytes, such as /thanks or /shop/*.")
		}
	}
	return problems
}
