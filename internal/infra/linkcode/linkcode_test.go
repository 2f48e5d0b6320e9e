package linkcode_test

import (
	"strings"
	"testing"

	"dateline/internal/infra/linkcode"
)

func TestEncode_PadsAndTruncates(t *testing.T) {
	if got, want := linkcode.Encode([16]byte{}), "0000000000"; got != want {
		t.Errorf("Encode of zeros = %q, want %q", got, want)
	}
	for b := range 256 {
		got := linkcode.Encode([16]byte{byte(b), 1, 15: byte(b)})
		if !linkcode.IsValid(got) {
			t.Errorf("Encode returned %q, which is not a valid code", got)
		}
	}
}

func TestIsValid(t *testing.T) {
	for text, want := range map[string]bool{
		"0123456789": true, "abcXYZ0189": true, "": false, "012345678": false,
		"01234567890": false,
		"012345678/":  false, "01234567é": false, "01234 6789": false,
	} {
		if got := linkcode.IsValid(text); got != want {
			t.Errorf("IsValid(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestIsValidTarget(t *testing.T) {
	for address, want := range map[string]bool{
		"https://news.example/a?b=c": true, "http://[::1]:8080/": true,
		"https://müller.example/đ": true,
		"javascript:alert(1)":      false, "//news.example": false, "/l/x": false, "https:news.example": false,
		"https://": false, "data:text/html,x": false,
		"https://a@b.example": false, "https://a.example\\@b.example": false,
		"https://a.example/\nSet-Cookie: x": false, " https://a.example": false,
		"https://a.example/%zz": false, "": false,
		"https://a.example/" + strings.Repeat("a", linkcode.MaxURLLength): false,
	} {
		if got := linkcode.IsValidTarget(address); got != want {
			t.Errorf("IsValidTarget(%q) = %v, want %v", address, got, want)
		}
	}
}
