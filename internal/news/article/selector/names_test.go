package selector

import "testing"

func TestIsStableName_RejectsGeneratedNames(t *testing.T) {
	for _, name := range []string{
		"dcr-1hnmz6y", "sc-jbiisr-0", "content__17Yit", "css-1x2y3z", "hJpRRP", "post-115809",
		"Article_body__aB3xZ", "jsx-3810574217", "svelte-1tky8bj", "title-module_x9Kd2", "framer-1a2b3c",
	} {
		if isStableName(name) {
			t.Errorf("%s counts as a stable name", name)
		}
	}
	for _, name := range []string{
		"article-body", "detail-content", "fck_detail", "entry-content", "storyText",
		"field--name-body", "c-article__body", "zce-content-body", "singular-content", "content_detail", "col-12",
	} {
		if !isStableName(name) {
			t.Errorf("%s counts as a generated name", name)
		}
	}
}
