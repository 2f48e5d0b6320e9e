package ingest

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/infra/apperr"
)

const (
	maxEventProperties = 10
	maxPropertyBytes   = 100 // of a value
)

// Reasons to filter events. They make typing errors visible.
const (
	unknownEvent    botfilter.Reason = "unknown_event"
	unknownProperty botfilter.Reason = "unknown_property" // the event itself counts
)

// checkProperties returns the errors of an event's properties.
func checkProperties(properties map[string]string) []apperr.FieldError {
	var problems []apperr.FieldError
	if len(properties) > maxEventProperties {
		return append(problems, apperr.FieldError{
			Field: "properties", Code: "too_many", Message: fmt.Sprintf("At most %d properties.", maxEventProperties),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value := properties[name]
		field := "properties." + name
		switch {
		case len(value) > maxPropertyBytes:
			problems = append(problems, apperr.FieldError{
				Field: field, Code: "too_long", Message: fmt.Sprintf("At most %d bytes.", maxPropertyBytes),
			})
		case !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			problems = append(problems, apperr.FieldError{
				Field: field, Code: "invalid", Message: "Must not contain control characters.",
			})
		case isPersonal(value):
			problems = append(problems, apperr.FieldError{
				Field: field, Code: "personal_data",
				Message: "Must not contain an e-mail address, an IP address, a phone number or a token.",
			})
		}
	}
	return problems
}

// propertiesOfHit is the error of properties of a view, click or conversion.
func propertiesOfHit() apperr.FieldError {
	return apperr.FieldError{
		Field: "properties", Code: "unknown_field", Message: "Only declared events have properties.",
	}
}

// isPersonal reports whether a value may identify a person.
func isPersonal(value string) bool {
	if _, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(value), "[]")); err == nil {
		return true
	}
	return dimensions.IsPersonal(value)
}

// countEvent counts a declared event, or that it was filtered; counted is false then.
func (in *Handler) countEvent(
	ctx context.Context, h hit, name string, properties map[string]string, reason botfilter.Reason,
) (counted bool, err error) {
	h.page = in.pageName(h)
	filtered := func(reason botfilter.Reason) (bool, error) {
		return false, in.Counter.CountFiltered(ctx, counter.FilteredHit{
			Site: h.site.CounterSite, Page: h.page, Reason: string(reason), At: h.at,
		})
	}
	e, reason, hasUnknown := buildEvent(h, name, properties, reason)
	if reason != "" {
		return filtered(reason)
	}
	v, err := in.identify(ctx, h)
	if err != nil {
		return false, err
	}
	within, err := in.RateLimiter.Allow(ctx, botfilter.Source{Site: h.site.ID, Visitor: rateID(v), Kind: 'e'},
		botfilter.Limit{Max: h.site.RateHits, Window: time.Duration(h.site.RateSeconds) * time.Second})
	if err != nil {
		return false, err
	}
	if !within {
		return filtered(botfilter.Rate)
	}
	if err := in.Counter.CountEvent(ctx, e); err != nil {
		return false, err
	}
	in.Notifier.Notify(h.site.ID)
	if hasUnknown {
		_, err = filtered(unknownProperty)
	}
	return true, err
}

// buildEvent returns an event with its declared properties, or the reason to filter
// it.
func buildEvent(
	h hit, name string, properties map[string]string, found botfilter.Reason,
) (e counter.Event, reason botfilter.Reason, hasUnknown bool) {
	event, declared := h.site.DeclaredEvent(name)
	switch {
	case found != "":
		return e, found, false
	case !declared:
		return e, unknownEvent, false
	}
	e = counter.Event{Site: h.site.CounterSite, Page: h.page, Name: name, At: h.at}
	for _, property := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(event.Properties, property) {
			hasUnknown = true
			continue
		}
		if value := strings.TrimSpace(properties[property]); value != "" {
			e.Properties = append(e.Properties, counter.Property{Name: property, Value: value})
		}
	}
	return e, "", hasUnknown
}
