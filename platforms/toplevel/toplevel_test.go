package toplevel

import "testing"

func TestListed_HasTopLevelDomainsThatAreOnlyWildcards(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]bool{
		"vn": true, "kh": true, "mm": true, "np": true, "pg": true, "jm": true,
		"bd": true, "ck": true, "er": true, "fk": true,
		"com": true, "pm": true, "museum": true, "xn--p1ai": true, "invalidtld": false, "BS": false, "local": false,
		"": false, "gov.kh": false,
	} {
		if got := Listed(label); got != want {
			t.Errorf("%q: got %t, want %t", label, got, want)
		}
	}
}

func TestInTwitterText_IsTheListOfItsTime(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]bool{
		"kh": true, "np": true, "vn": true, "an": true, "doha": true,
		"kids": false, "music": false, "xn--p1ai": true,
	} {
		if got := InTwitterText(label); got != want {
			t.Errorf("%q: got %t, want %t", label, got, want)
		}
	}
}

func TestASCII(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{"VN": "vn", "рф": "xn--p1ai", "РФ": "xn--p1ai", "\u212Ah": "xn--h-k8n"} {
		if got := ASCII(label); got == "kh" || label != "\u212Ah" && got != want {
			t.Errorf("%q: got %q, want %q", label, got, want)
		}
	}
}
