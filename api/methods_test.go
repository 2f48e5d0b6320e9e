package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// Methods that openapi.yaml does not have for a path get status 405 with exactly the
// allowed methods.
func TestAllow_ListsExactlyTheMethodsOfAPath(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, item := range s.answers.doc.Paths.Map() {
		var want []string
		for method := range item.Operations() {
			want = append(want, method)
		}
		slices.Sort(want)
		concrete := placeholder.ReplaceAllString(path, uuid.NewString())
		for _, method := range []string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete, http.MethodTrace,
		} {
			if slices.Contains(want, method) {
				continue
			}
			a := s.send(method, concrete, nil)
			// Browsers send preflight requests for requests from other sites
			// (https://fetch.spec.whatwg.org/#cors-preflight-fetch); link previewers
			// use HEAD.
			got := slices.DeleteFunc(strings.Split(a.Header.Get("Allow"), ", "), func(m string) bool {
				return m == http.MethodHead || m == http.MethodOptions
			})
			slices.Sort(got)
			if a.StatusCode != http.StatusMethodNotAllowed || !slices.Equal(got, want) {
				t.Errorf("%s %s: got %d, Allow %q, want 405, %q", method, path, a.StatusCode, a.Header.Get("Allow"),
					want)
			}
		}
	}
}
