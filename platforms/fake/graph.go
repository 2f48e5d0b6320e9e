package fake

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/network"
)

// graphError is the error object of Meta's Graph APIs.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
type graphError struct {
	Message     string `json:"message"`
	Type        string `json:"type"`
	Code        int    `json:"code"`
	Subcode     int    `json:"error_subcode,omitempty"`
	Transient   bool   `json:"is_transient,omitempty"`
	Title       string `json:"error_user_title,omitempty"`
	UserMessage string `json:"error_user_msg,omitempty"`
	Trace       string `json:"fbtrace_id"`
}

// refuseGraph writes an error object. The type has a default.
func refuseGraph(w http.ResponseWriter, status int, e graphError) {
	if e.Type == "" {
		e.Type = "OAuthException"
	}
	e.Trace = "A" + rand.Text()[:22]
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`OAuth "Facebook Platform" "invalid_request" %q`, e.Message))
	writeJSON(w, status, map[string]any{"error": e})
}

// graphInvalid writes the refusal of a parameter.
func graphInvalid(w http.ResponseWriter, message string) {
	refuseGraph(w, http.StatusBadRequest, graphError{Message: "(#100) " + message, Code: 100})
}

// graphNotFound writes the Graph APIs' error for objects that do not exist or
// belong to someone else.
func graphNotFound(w http.ResponseWriter, method, id string) {
	refuseGraph(w, http.StatusBadRequest, graphError{
		Message: "Unsupported " + strings.ToLower(method) + " request. Object with ID '" + id +
			"' does not exist, cannot be loaded due to missing permissions, or does not support this operation",
		Type: "GraphMethodException", Code: 100, Subcode: 33,
	})
}

// newGraphNetwork returns one of Meta's networks. Faults apply to all paths
// except the authorize page, whose path after the prefix is dialog.
func newGraphNetwork(network, prefix, dialog string, routes func(*http.ServeMux)) *fakeNetwork {
	return &fakeNetwork{
		name:   network,
		prefix: prefix,
		isAPI:  func(path string) bool { return path != prefix+dialog },
		token:  graphToken,
		refuse: refuseGraphStatus,
		expired: func(w http.ResponseWriter) {
			refuseGraph(w, http.StatusBadRequest, graphError{
				Message: "Error validating access token: Session has expired.", Code: 190, Subcode: 463,
			})
		},
		writeThrottled: func(w http.ResponseWriter, wait time.Duration) {
			w.Header().Set("X-App-Usage", `{"call_count":100,"total_cputime":12,"total_time":25}`)
			w.Header().Set("X-Business-Use-Case-Usage", fmt.Sprintf(
				`{"17840000000000000":[{"type":%q,"call_count":100,"total_cputime":12,"total_time":25,"estimated_time_to_regain_access":%d}]}`,
				network, int(math.Ceil(wait.Minutes()))))
			refuseGraph(w, http.StatusForbidden, graphError{
				Message: "(#4) Application request limit reached", Code: 4, Transient: true,
			})
		},
		requestID: "X-Fb-Trace-Id",
		routes:    routes,
	}
}

// refuseGraphStatus writes a refusal with only a status.
func refuseGraphStatus(w http.ResponseWriter, status int, text string) {
	e := graphError{Message: text, Code: 100}
	switch {
	case status == http.StatusUnauthorized:
		e = graphError{Message: "Invalid OAuth access token - Cannot parse access token", Code: 190}
	case status == http.StatusForbidden:
		e.Code, e.Message = 200, "(#200) Permissions error"
	case status >= http.StatusInternalServerError:
		e.Code, e.Message = 2, "An unexpected error has occurred. Please retry your request later."
		e.Transient = true
	case text == "":
		e.Message = "(#100) Invalid parameter"
	}
	if text != "" {
		e.Message = text
	}
	refuseGraph(w, status, e)
}

// graphToken returns the token from where the Graph APIs accept it: the header,
// with either scheme, a form, or the URL.
func graphToken(r *http.Request) string {
	header := r.Header.Get("Authorization")
	for _, scheme := range []string{"Bearer ", "OAuth "} {
		if value, ok := strings.CutPrefix(header, scheme); ok {
			return value
		}
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return r.FormValue("access_token")
	}
	return r.URL.Query().Get("access_token")
}

// graphAuthenticated serves a call with a valid token that has the scope, and a
// valid appsecret_proof if there is one.
// https://developers.facebook.com/docs/graph-api/guides/secure-requests
func (s graphFake) graphAuthenticated(
	f *fakeNetwork, scope string, next func(http.ResponseWriter, *http.Request, caller), buckets ...string,
) http.HandlerFunc {
	return s.authenticatedFor(f, func(w http.ResponseWriter, r *http.Request, c caller) {
		// The handler deals with bodies that are not forms.
		if err := r.ParseMultipartForm(maxFormMemory); err != nil && !errors.Is(err, http.ErrNotMultipart) {
			graphInvalid(w, err.Error())
			return
		}
		switch proof := r.FormValue("appsecret_proof"); {
		case proof != "" && !hmac.Equal([]byte(proof), []byte(graphProof(graphToken(r)))):
			graphInvalid(w, "Invalid appsecret_proof provided in the API argument")
		case !c.allowed(scope):
			refuseGraph(w, http.StatusForbidden, graphError{
				Message: "(#10) Application does not have permission for this action", Code: 10,
			})
		default:
			next(w, r, c)
		}
	}, buckets...)
}

func graphProof(token string) string {
	sum := hmac.New(sha256.New, []byte(network.SandboxApp("", "").ClientSecret.Reveal()))
	_, _ = sum.Write([]byte(token))
	return hex.EncodeToString(sum.Sum(nil))
}

// graphTime formats a time like the Graph APIs: whole seconds, and no colon in
// the offset.
func graphTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05-0700") }

// graphPost is an entry of a listing and its id, which cursors refer to.
type graphPost struct {
	ID     string
	Entity map[string]any
}

// graphList responds with a page of a listing, newest first: limit entries after
// a cursor. Like Meta's, the address of the next page contains the token.
// https://developers.facebook.com/docs/graph-api/results
func graphList(w http.ResponseWriter, r *http.Request, f *fakeNetwork, posts []graphPost) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 {
		limit = 25
	}
	limit = min(limit, 100)
	if after := query.Get("after"); after != "" {
		id, _ := base64.RawURLEncoding.DecodeString(after)
		at := slices.IndexFunc(posts, func(p graphPost) bool { return p.ID == string(id) })
		if at < 0 {
			graphInvalid(w, "Invalid cursors values")
			return
		}
		posts = posts[at+1:]
	}
	more := len(posts) > limit
	posts = posts[:min(len(posts), limit)]
	data := make([]map[string]any, len(posts))
	for i, p := range posts {
		data[i] = p.Entity
	}
	body := map[string]any{"data": data}
	if len(posts) > 0 {
		cursor := func(p graphPost) string { return base64.RawURLEncoding.EncodeToString([]byte(p.ID)) }
		paging := map[string]any{
			"cursors": map[string]string{"before": cursor(posts[0]), "after": cursor(posts[len(posts)-1])},
		}
		if more {
			query.Set("access_token", graphToken(r))
			query.Set("after", cursor(posts[len(posts)-1]))
			paging["next"] = f.root(r) + strings.TrimPrefix(r.URL.Path, f.prefix) + "?" + query.Encode()
		}
		body["paging"] = paging
	}
	writeJSON(w, http.StatusOK, body)
}

// graphSince reports whether a time is not before a listing's parameter since, in
// seconds since 1970.
func graphSince(r *http.Request, at time.Time) bool {
	since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	return err != nil || at.Unix() >= since || conditionsOf(r).ignoreSince
}
