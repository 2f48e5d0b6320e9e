package api_test

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Requests are checked by the rules of OpenAPI 3.0, because the library compiles a
// schema of 3.1 again for each one. A keyword that only 3.1 knows would be ignored.
func TestOpenAPI_NeedsNoKeywordOf31(t *testing.T) {
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	schemas := 0
	var walk func(n *yaml.Node, isNames bool)
	walk = func(n *yaml.Node, isNames bool) {
		if n.Kind != yaml.MappingNode {
			for _, child := range n.Content {
				walk(child, false)
			}
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Value == "example" || key.Value == "examples" {
				continue
			}
			if !isNames {
				switch key.Value {
				case "const", "if", "then", "else", "prefixItems", "contains", "minContains", "maxContains",
					"patternProperties", "dependentSchemas", "dependentRequired",
					"propertyNames", "unevaluatedItems", "unevaluatedProperties", "$defs", "$dynamicRef", "$anchor":
					t.Errorf("openapi.yaml:%d: %s is not checked", key.Line, key.Value)
				case "type":
					schemas++
				}
			}
			walk(value, key.Value == "properties" && !isNames)
		}
	}
	walk(&document, false)
	if schemas < 100 {
		t.Errorf("got %d schemas with a type, want more: the file is read wrongly", schemas)
	}
}
