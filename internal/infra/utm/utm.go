// Package utm adds campaign parameters, such as utm_source, to the targets of short
// links. https://support.google.com/analytics/answer/10917952
package utm

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dateline/internal/infra/apperr"
)

// Params are values by name without utm_. As defaults they are merged: a later empty
// value removes an earlier one.
type Params map[string]string

// MaxValue is the maximum length of a value in characters.
const MaxValue = 100

// Names lists the parameters in the order in which they are added.
func Names() []string { return []string{"source", "medium", "campaign", "content", "term"} }

// Check names everything that is wrong with parameters. field is their path.
func (p Params) Check(field string) (problems []apperr.FieldError) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		value := p[name]
		switch {
		case !slices.Contains(Names(), name):
			problems = append(problems,
				apperr.Field(field+"."+name, "unknown_utm", "There is no parameter utm_{value}. Use {allowed}.", name,
					Names()))
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
			problems = append(problems,
				apperr.Field(field+"."+name, "invalid_text", "The text must be valid UTF-8 without NUL."))
		case utf8.RuneCountInString(value) > MaxValue:
			problems = append(problems,
				apperr.Field(field+"."+name, "utm_too_long", "A UTM parameter has at most {limit} characters.",
					MaxValue))
		}
	}
	return problems
}

// Merge returns p with the values of over in place of its own.
func (p Params) Merge(over Params) Params {
	out := maps.Clone(p)
	if out == nil {
		out = Params{}
	}
	maps.Copy(out, over)
	maps.DeleteFunc(out, func(_, value string) bool { return value == "" })
	return out
}

// AddTo returns an address with the parameters that it does not have yet.
func (p Params) AddTo(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	has := u.Query()
	var add []string
	for _, name := range Names() {
		if value := p[name]; value != "" && !has.Has("utm_"+name) {
			add = append(add, "utm_"+name+"="+url.QueryEscape(value))
		}
	}
	if len(add) == 0 {
		return address
	}
	// The rest of the address stays as the author wrote it.
	address, fragment, hasFragment := strings.Cut(address, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	address += separator + strings.Join(add, "&")
	if hasFragment {
		address += "#" + fragment
	}
	return address
}
