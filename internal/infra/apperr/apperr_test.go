package apperr_test

import (
	"strings"
	"testing"

	"dateline/internal/infra/apperr"
)

func TestError_NamesEveryInvalidField(t *testing.T) {
	e := apperr.InvalidFields(apperr.FieldError{Field: "content", Code: "too_long", Message: "Too long."},
		apperr.FieldError{Field: "accounts[1]", Code: "unknown", Message: "Not here."})
	for _, want := range []string{"content: Too long.", "accounts[1]: Not here."} {
		if got := e.Error(); !strings.Contains(got, want) {
			t.Errorf("got %q, want it to contain %q", got, want)
		}
	}
}
