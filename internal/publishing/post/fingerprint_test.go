package post_test

import (
	"bytes"
	"testing"

	"dateline/internal/publishing/post"
)

func TestFingerprint_DependsOnTheWordsOnly(t *testing.T) {
	of := func(text string) []byte { return post.Post{Content: text}.Fingerprint(post.Target{}) }
	same := of("Bão số 9 đổ bộ: Straße")
	for _, text := range []string{
		"  ba\u0303o so\u0302\u0301\t9 \n đo\u0302\u0309 bo\u0323\u0302: STRASSE ",
		"BÃO SỐ 9 ĐỔ BỘ: straße", "Bão\u00a0số 9\u2003đổ bộ: Straße",
	} {
		if !bytes.Equal(of(text), same) {
			t.Errorf("%q: got another fingerprint", text)
		}
	}
	for _, text := range []string{
		"Bao so 9 do bo: Strasse", "Bão số 9 đổ bộ: Straße.", "Bão số9 đổ bộ: Straße",
		"Bão số 9 đổ bộ",
	} {
		if bytes.Equal(of(text), same) {
			t.Errorf("%q: got the same fingerprint", text)
		}
	}
	for _, text := range []string{"", " \n\u00a0"} {
		if of(text) != nil {
			t.Errorf("%q: got a fingerprint, want none", text)
		}
	}
	other := "Other"
	p := post.Post{Content: "Hello", Thread: []post.Segment{{Content: "More"}}}
	if !bytes.Equal(p.Fingerprint(post.Target{}), of("hello")) ||
		!bytes.Equal(p.Fingerprint(post.Target{Override: &post.Override{Content: &other}}), of("OTHER")) {
		t.Error("it is not of the first words on the account")
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, text := range []string{
		"", "Hello", "đo\u0302\u0309 bo\u0323\u0302", "İ ǅ ß ﬃ", "a\xff",
		"\u0345\u03b1\u0301",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		of := func(text string) []byte { return post.Post{Content: text}.Fingerprint(post.Target{}) }
		if sum := of(text); sum != nil && len(sum) != 16 || !bytes.Equal(sum, of(" "+text+"\n")) {
			t.Errorf("%q: %x", text, sum)
		}
	})
}
