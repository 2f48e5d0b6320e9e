package pdf_test

import (
	"bytes"
	"slices"
	"testing"

	"dateline/internal/publishing/media/pdf"
	"dateline/internal/testing/mediatest"
)

func open(t *testing.T, content []byte) *pdf.File {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// The properties disappear, also from compressed objects, and the document stays as it is.
func TestFile_PropertiesAreRemovedInPlace(t *testing.T) {
	t.Parallel()
	for name, streams := range map[string]bool{"tables": false, "streams": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := mediatest.PDF(3, streams)
			found, err := open(t, content).Properties()
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{"Author", "CreationDate", "Producer", "Title"}; !slices.Equal(found.Fields, want) ||
				len(found.XMP) != 1 || !bytes.Equal(found.XMP[0], mediatest.XMP()) {
				t.Fatalf("got %v and %d packets, want %v and one", found.Fields, len(found.XMP), want)
			}
			for _, patch := range found.Patches {
				copy(content[patch.At:], patch.Data)
			}
			after := open(t, content)
			left, err := after.Properties()
			if err != nil || len(left.Fields)+len(left.XMP)+len(left.Patches) > 0 {
				t.Errorf("afterwards: got %v, %d packets, %d patches, %v, want nothing", left.Fields, len(left.XMP),
					len(left.Patches), err)
			}
			if pages, err := after.Pages(); err != nil || pages != 3 {
				t.Errorf("afterwards: got %d pages, %v, want 3", pages, err)
			}
		})
	}
}
