package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Names that OpenAPI Generator derives from the description must be unique, or generated
// clients do not compile. `make bench/clients` compiles them.
func TestOpenAPI_NamesSuitGenerators(t *testing.T) {
	t.Parallel()
	doc, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	operations := map[string]*openapi3.Operation{}
	for _, path := range doc.Paths.Map() {
		for _, o := range path.Operations() {
			operations[o.OperationID] = o
		}
	}
	for _, problem := range slices.Sorted(slices.Values(nameProblems(doc.Components.Schemas, operations))) {
		t.Error(problem)
	}
}

// Each rule finds what it is for.
func TestNameProblems(t *testing.T) {
	t.Parallel()
	enum := func(values ...any) *openapi3.SchemaRef {
		return &openapi3.SchemaRef{Value: &openapi3.Schema{Enum: values}}
	}
	with := func(name string, value *openapi3.SchemaRef) *openapi3.SchemaRef {
		return &openapi3.SchemaRef{Value: &openapi3.Schema{Properties: openapi3.Schemas{name: value}}}
	}
	null := &openapi3.SchemaRef{Value: &openapi3.Schema{Type: &openapi3.Types{"null"}}}
	nullable := &openapi3.SchemaRef{Value: &openapi3.Schema{OneOf: openapi3.SchemaRefs{enum("a"), null}}}
	parameter := &openapi3.Parameter{Name: "time_unit", Schema: enum("hour")}
	for name, c := range map[string]struct {
		schemas    openapi3.Schemas
		operations map[string]*openapi3.Operation
		want       int
	}{
		"nothing wrong":    {schemas: openapi3.Schemas{"Post": enum("a", "b"), "PostCreate": enum("c")}},
		"constructors":     {schemas: openapi3.Schemas{"Tag": enum(), "NewTag": enum()}, want: 1},
		"only the new one": {schemas: openapi3.Schemas{"NewTag": enum()}},
		"a value of two": {
			schemas: openapi3.Schemas{"Color": enum("dark-red"), "Wine": enum("dark_red")}, want: 1,
		},
		"a method":            {schemas: openapi3.Schemas{"Entry": with("json", enum())}, want: 1},
		"another method":      {schemas: openapi3.Schemas{"Entry": with("model_fields", enum())}, want: 1},
		"null in oneOf":       {schemas: openapi3.Schemas{"Entry": with("tag", nullable)}, want: 1},
		"null in oneOf, deep": {schemas: openapi3.Schemas{"List": with("entry", with("tag", nullable))}, want: 1},
		"raw":                 {operations: map[string]*openapi3.Operation{"getTag": {}, "getTagRaw": {}}, want: 1},
		"only raw":            {operations: map[string]*openapi3.Operation{"getTagRaw": {}}},
		"enums of a parameter and a property": {
			schemas: openapi3.Schemas{"TagCounts": with("time_unit", enum("hour"))},
			operations: map[string]*openapi3.Operation{
				"tagCounts": {Parameters: openapi3.Parameters{{Value: parameter}}},
			},
			want: 1,
		},
	} {
		if got := nameProblems(c.schemas, c.operations); len(got) != c.want {
			t.Errorf("%s: got %q, want %d problems", name, got, c.want)
		}
	}
}

// nameProblems returns the names that generated clients cannot have.
func nameProblems(schemas openapi3.Schemas, operations map[string]*openapi3.Operation) (out []string) {
	values, inline := map[string]string{}, map[string]bool{}
	for name, ref := range schemas {
		if schemas["New"+name] != nil {
			out = append(out, "go: New"+name+" is also the constructor of "+name)
		}
		for _, constant := range constants(ref.Value) {
			if other := values[constant]; other != "" {
				out = append(out, fmt.Sprintf("go: %s and %s both have %s: use x-enum-varnames", name, other, constant))
			}
			values[constant] = name
		}
		for property, of := range ref.Value.Properties {
			if len(of.Value.Enum) > 0 && of.Ref == "" {
				inline[enumName(name, property)] = true
			}
		}
		out = append(out, propertyProblems(name, ref)...)
	}
	for id, o := range operations {
		if operations[id+"Raw"] != nil {
			out = append(out, "typescript-fetch: "+id+"Raw is also a method of "+id)
		}
		for _, p := range o.Parameters {
			one := p.Value.Schema
			if one != nil && one.Ref == "" && len(one.Value.Enum) > 0 && inline[enumName(id, p.Value.Name)] {
				out = append(out, "typescript-fetch: "+id+" and a schema both have an enum of "+p.Value.Name)
			}
		}
	}
	return out
}

// constants returns the names of the values of an enum in Go.
func constants(s *openapi3.Schema) (out []string) {
	names, _ := s.Extensions["x-enum-varnames"].([]any)
	if len(names) == 0 {
		names = s.Enum
	}
	for _, name := range names {
		out = append(out, strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(fmt.Sprint(name))))
	}
	return out
}

// enumName is the name of an inline enum of a schema or an operation.
func enumName(of, name string) string {
	return strings.ToLower(of + strings.ReplaceAll(name, "_", ""))
}

// pydanticMethods are the methods of pydantic's BaseModel that a property would hide
// (docs.pydantic.dev, "BaseModel"); names with model_ are reserved.
func pydanticMethods() []string {
	return []string{
		"construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema",
		"schema_json", "update_forward_refs", "validate",
	}
}

// propertyProblems checks the properties of a schema and what is in them.
func propertyProblems(name string, ref *openapi3.SchemaRef) (out []string) {
	s := ref.Value
	for _, one := range s.OneOf {
		if one.Value.Type.Is("null") {
			out = append(out, "rust: "+name+" has null in oneOf; anyOf works")
		}
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(pydanticMethods(), property) || strings.HasPrefix(property, "model_") {
			out = append(out, "python: "+name+"."+property+" hides a method")
		}
	}
	inner := slices.Collect(maps.Values(s.Properties))
	inner = append(inner, s.OneOf...)
	inner = append(append(inner, s.AllOf...), s.AnyOf...)
	inner = append(inner, s.Items, s.AdditionalProperties.Schema)
	for _, one := range inner {
		if one != nil && one.Ref == "" {
			out = append(out, propertyProblems(name, one)...)
		}
	}
	return out
}
