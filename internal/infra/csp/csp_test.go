package csp_test

import (
	"testing"

	"dateline/internal/infra/csp"
)

func TestStyleHash(t *testing.T) {
	for page, want := range map[string]string{
		// printf '%s' 'p{}' | openssl dgst -sha256 -binary | base64
		"<html><style>p{}</style><style>q{}</style>": "'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='",
		"<p>no style":   "",
		"<style>no end": "",
	} {
		if got := csp.StyleHash(page); got != want {
			t.Errorf("%q: %s, want %s", page, got, want)
		}
	}
}
