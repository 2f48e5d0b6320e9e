package platformtest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dateline/platforms/network"
)

// OptionPaths lists the options of a network from the struct that its adapter declares,
// such as poll.choices. A new field is therefore part of every test that uses it.
func OptionPaths(t *testing.T, parser network.OptionParser) []string {
	t.Helper()
	none, problems := parser.ParseOptions(json.RawMessage(`{}`))
	if len(problems) > 0 || none == nil {
		t.Fatalf("empty options: got %+v and %+v, want options", none, problems)
	}
	var paths []string
	var walk func(reflect.Type, string)
	walk = func(of reflect.Type, prefix string) {
		for i := range of.NumField() {
			field := of.Field(i)
			if !field.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				walk(inner, prefix+name+".")
				continue
			}
			paths = append(paths, prefix+name)
		}
	}
	walk(reflect.TypeOf(none), "")
	return paths
}

// testOptionList checks that the matrix has every option: sent with a value that the
// network is known to have received, and refused with its field when it has the wrong
// type.
func testOptionList(t *testing.T, s Subject, parser network.OptionParser) {
	for _, path := range OptionPaths(t, parser) {
		// A first comment is a call of its own; internal/publishing/delivery tests it.
		isComment := strings.HasPrefix(path, "first_comment.")
		sent := slices.ContainsFunc(s.Options, func(c OptionCase) bool {
			return c.Field == "" && (len(c.Want) > 0 || isComment) && hasPath(c.Options, path)
		})
		if !sent {
			t.Errorf("add a case to the option matrix that sends %s and says what the network receives", path)
		}
		_, problems := parser.ParseOptions(json.RawMessage(atPath(path, `{}`)))
		if len(problems) != 1 || problems[0].Field != "options."+path || problems[0].Code != "unreadable_options" {
			t.Errorf("%s of the wrong type: got %+v, want unreadable_options of options.%s", path, problems, path)
		}
	}
}

// atPath returns an object with a value at a path.
func atPath(path, value string) string {
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		value = atPath(rest, value)
	}
	return `{"` + name + `":` + value + `}`
}

// hasPath reports whether an object has a value at a path.
func hasPath(object, path string) bool {
	var value map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &value) != nil {
		return false
	}
	name, rest, nested := strings.Cut(path, ".")
	inner, ok := value[name]
	return ok && (!nested || hasPath(string(inner), rest))
}
