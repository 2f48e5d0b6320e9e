package media_test

import (
	"bytes"
	"fmt"
	"testing"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/mediatest"
)

func TestInspect_CountsThePagesOfDocuments(t *testing.T) {
	t.Parallel()
	for _, pages := range []int{1, 3, 3000} {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d pages, compressed %t", pages, streams), func(t *testing.T) {
				t.Parallel()
				got, err := inspect(mediatest.PDF(pages, streams))
				want := media.Facts{MIMEType: "application/pdf", Kind: media.Document, Orientation: 1, Pages: pages}
				if err != nil || got != want {
					t.Errorf("got %+v, %v, want %+v", got, err, want)
				}
			})
		}
	}
}

// A document that was saved again has a second cross-reference section with the changed
// objects, which refers to the first.
func TestInspect_CountsThePagesOfAChangedDocument(t *testing.T) {
	t.Parallel()
	first := mediatest.PDF(2, false)
	at := len(first)
	changed := append(first, "2 0 obj\n<</Type/Pages/Count 1/Kids[5 0 R]>>\nendobj\n"...)
	start := len(changed)
	older := bytes.LastIndex(first, []byte("\nxref\n")) + 1
	changed = fmt.Appendf(changed,
		"xref\n2 1\n%010d 00000 n \ntrailer\n<</Size 7/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, older,
		start)
	if got, err := inspect(changed); err != nil || got.Pages != 1 {
		t.Errorf("got %d pages, %v, want 1", got.Pages, err)
	}
}

func TestInspect_RejectsDocumentsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	whole := mediatest.PDF(3, false)
	circular := bytes.Replace(whole, []byte("/Root 1 0 R"), []byte("/Prev 9 /R 1"), 1)
	circular = bytes.Replace(circular, []byte("/Prev 9 "),
		fmt.Appendf(nil, "/Prev %d ", bytes.LastIndex(whole, []byte("\nxref\n"))+1), 1)
	for name, c := range map[string]struct {
		content []byte
		code    string
	}{
		"truncated":            {whole[:len(whole)/2], "damaged"},
		"only a head":          {[]byte("%PDF-1.7\n"), "damaged"},
		"no pages":             {bytes.Replace(whole, []byte("/Count 3"), []byte("/Count 0"), 1), "damaged"},
		"sections in a circle": {circular, "damaged"},
		"deeply nested": {
			bytes.Replace(whole, []byte("/Root 1 0 R"), append([]byte("/A "), bytes.Repeat([]byte("["), 100_000)...),
				1), "damaged",
		},
		"encrypted": {bytes.Replace(whole, []byte("/Info 3 0 R"), []byte("/Encrypt<<>>"), 1), "unsupported_type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := inspect(c.content)
			if got := problemOf(err); got.Code != c.code || got.Message == "" {
				t.Errorf("got %+v, want %s", got, c.code)
			}
		})
	}
}

func FuzzInspect_Documents(f *testing.F) {
	f.Add(mediatest.PDF(2, false))
	f.Add(mediatest.PDF(2, true))
	f.Fuzz(func(_ *testing.T, content []byte) {
		_, _ = inspect(append([]byte("%PDF-1.7\n"), content...))
	})
}
