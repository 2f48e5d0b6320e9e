package extract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// requireSafe parses the output like a browser, and checks that nothing in it is
// executable.
func requireSafe(t *testing.T, fragment string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(fragment))
	if err != nil {
		return // deeper than browsers render
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "style", "iframe", "object", "embed", "svg", "math", "form", "input", "link", "meta", "base",
			"template", "noscript":
			require.Fail(t, "element "+n.Data, fragment)
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "href", "src":
				require.True(t, strings.HasPrefix(a.Val, "http://") || strings.HasPrefix(a.Val, "https://"), a.Val)
			case "alt", "rel":
			default:
				require.Fail(t, "attribute "+a.Key, fragment)
			}
		}
	}
}
