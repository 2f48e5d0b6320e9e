package websub

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

// The secret and the callback of a subscription never change, and tell nothing of each other.
func TestKey_DerivesSecretAndToken(t *testing.T) {
	a, b := newKey(), newKey()
	if a.token() == b.token() || a.secret() == b.secret() || a.token() == a.secret() {
		t.Error("got equal tokens or secrets, want different ones")
	}
	if again := key(append([]byte{}, a...)); again.token() != a.token() || again.secret() != a.secret() {
		t.Error("got another token or secret of the same key")
	}
	if url.PathEscape(a.token()) != a.token() || len(a.secret()) >= 200 {
		t.Errorf("got the token %q and a secret of %d bytes, want a path and less than 200", a.token(), len(a.secret()))
	}
}

func TestLeaseOf_BoundsLeases(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": requestedLease, "x": requestedLease, "-5": requestedLease,
		"0": requestedLease, "1": minLease, "86400": 24 * time.Hour,
		"99999999999999": maxLease, "9223372036854775807": maxLease, "92233720368547758070": requestedLease,
	} {
		if got := leaseOf(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := renewAfter(minLease); got != minRenewal {
		t.Errorf("got a renewal after %s of a short lease, want %s", got, minRenewal)
	}
}

func FuzzHasSignature(f *testing.F) {
	f.Add("sha256=00", []byte("x"))
	f.Add("sha1", []byte(""))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		if hasSignature(header, http.StatusText(http.StatusTeapot), body) {
			t.Errorf("got a valid signature %q without the secret", header)
		}
	})
}
