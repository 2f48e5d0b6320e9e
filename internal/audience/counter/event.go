package counter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Event is an event that a site declares, such as a sign-up. Every one counts:
// readers are not identified.
type Event struct {
	Site       Site
	Page       string // on which it happened
	Name       string
	Properties []Property
	At         time.Time
}

// Property is a property of an event.
type Property struct{ Name, Value string }

// EventDelta is the increment of an event on a day, or of one value of a property
// of it.
type EventDelta struct {
	Day             Day
	Name            string
	Property, Value string // "" for the event itself
	Count           int64
}

// ErrEvent reports that an event has no name.
var ErrEvent = errors.New("an event must have a name")

// eventLetter marks counts of events in summaries.
const eventLetter = 'E'

// An event is in the log as the reason of a filtered hit: eventMark, its name, and
// for each property propertyMark, its name, valueMark and the value.
const (
	eventMark    = "\x01"
	propertyMark = "\x1f"
	valueMark    = "\x1e"
)

func (e *Event) validate() error {
	switch {
	case e.Page == "" || len(e.Page) > maxPageLength:
		return ErrPage
	case e.Name == "":
		return ErrEvent
	}
	return nil
}

func (e *Event) encode() string {
	var b strings.Builder
	b.WriteString(eventMark + withoutControls(e.Name))
	for _, p := range e.Properties {
		b.WriteString(propertyMark + withoutControls(p.Name) + valueMark + withoutControls(p.Value))
	}
	return b.String()
}

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// addEvent adds an event and its properties.
func (c *pageSummary) addEvent(day Day, text string) {
	name, rest, more := strings.Cut(text, propertyMark)
	c.addValue(eventLetter, day, name, 1)
	for more {
		var property string
		property, rest, more = strings.Cut(rest, propertyMark)
		c.addValue(eventLetter, day, name+propertyMark+property, 1)
	}
}

func eventDelta(v valueCount) EventDelta {
	d := EventDelta{Day: v.day, Count: v.count}
	var property string
	d.Name, property, _ = strings.Cut(v.value, propertyMark)
	d.Property, d.Value, _ = strings.Cut(property, valueMark)
	return d
}

// addEvent adds a valid event to the batch.
func (b *hitBatch) addEvent(e *Event) {
	b.addUncounted(e.Site, e.Page, e.At, e.encode())
	b.events++
}

// CountEvents counts events.
func (c *Counter) CountEvents(ctx context.Context, events []Event) error {
	b := newBatch(c)
	for i := range events {
		if err := events[i].validate(); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
		b.addEvent(&events[i])
	}
	_, err := b.run(ctx)
	return err
}

// CountEvent counts an event.
func (b *Batcher) CountEvent(ctx context.Context, e Event) error {
	if err := e.validate(); err != nil {
		return err
	}
	w := b.newRequest(ctx)
	w.event = &e
	_, err := b.submit(ctx, w)
	return err
}
