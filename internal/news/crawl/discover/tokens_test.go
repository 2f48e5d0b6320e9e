package discover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tags lists the content of a page except for the texts of scripts and style sheets.
func tags(doc string, passing bool) (all []string) {
	t := newTokenizer([]byte(doc), 0)
	raw := false
	for {
		kind := t.Next()
		if kind == html.ErrorToken {
			return all
		}
		if kind != html.TextToken || !raw {
			all = append(all, fmt.Sprintf("%d %q", kind, t.Raw()))
		}
		raw = false
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			name, _ := t.TagName()
			tag := atom.Lookup(name)
			if raw = tag == atom.Script || tag == atom.Style; raw && passing {
				t.skipRawText(tag)
			}
		}
	}
}

func scripts() []string {
	return []string{
		`<a href=1>a</a><script>var a = "<a href=2>";</script><a href=3>`,
		`<script><!-- <script> </script> --></script><a href=1>`,
		`<script>a<!--b</script><a href=1>`,
		`<SCRIPT src=a></ScRiPt ><a href=1>`,
		`<script>x</scripts></script/><a href=1>`,
		`<style>a{}</style><style></style><a href=1>`,
		`<style><!-- a --></style><p>`,
		`<script/>a</script><p>`,
		`<script>never ends <a href=1>`,
		`<script>a</script`,
		`<!-- <script> --><a href=1><!-- </script> -->`,
		`<textarea><script></textarea><a href=1></script>`,
		`<script>` + strings.Repeat(`{"a": "<\/script>"},`, 500) + `</script><a href=1>` + strings.Repeat("x", 5000) +
			`<style>` + strings.Repeat("a{}", 5000) + `</style><b>`,
	}
}

// Exactly the text that the tokenizer reports as a script's is skipped.
func TestTokenizer_SkipsLongScripts(t *testing.T) {
	for _, doc := range scripts() {
		if got, want := tags(doc, true), tags(doc, false); !slices.Equal(got, want) {
			t.Errorf("%.80s\n%q, without passing\n%q", doc, got, want)
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, doc := range scripts() {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if got, want := tags(doc, true), tags(doc, false); !slices.Equal(got, want) {
			t.Errorf("%q, without passing %q", got, want)
		}
	})
}
