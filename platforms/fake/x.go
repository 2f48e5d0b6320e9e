package fake

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// xAPI is the path of X's API, to which faults apply.
const xAPI = "/x/2"

// xNetwork fakes X as documented at https://docs.x.com/x-api. An account of kind
// "premium" can write long posts.
func (s xFake) xNetwork() *fakeNetwork {
	f := &fakeNetwork{
		name:   "x",
		prefix: "/x",
		isAPI:  func(path string) bool { return strings.HasPrefix(path, xAPI+"/") },
		token:  bearer,
		refuse: func(w http.ResponseWriter, status int, text string) {
			if text == "" {
				text = xStatusMessage(status)
			}
			writeProblem(w, status, xProblem{Detail: text})
		},
		expired: func(w http.ResponseWriter) {
			writeProblem(w, http.StatusUnauthorized, xProblem{Detail: "Unauthorized"})
		},
		writeRateHeaders: func(h http.Header, rate Rate, left int, reset time.Time) {
			h.Set("X-Rate-Limit-Limit", strconv.Itoa(rate.Requests))
			h.Set("X-Rate-Limit-Remaining", strconv.Itoa(left))
			// Whole seconds, rounded up
			h.Set("X-Rate-Limit-Reset", strconv.FormatInt(reset.Add(time.Second-1).Unix(), 10))
		},
		requestID: "X-Transaction-Id",
	}
	f.routes = func(mux *http.ServeMux) { s.routeX(mux, f) }
	return f
}

func (s xFake) routeX(mux *http.ServeMux, f *fakeNetwork) {
	allow := s.consent(f, 30*time.Second)
	mux.HandleFunc("GET /x/i/oauth2/authorize", allow)
	mux.HandleFunc("POST /x/i/oauth2/authorize", allow)
	mux.HandleFunc("POST /x/2/oauth2/token", s.xToken)
	mux.HandleFunc("POST /x/2/oauth2/revoke", s.xRevoke)
	mux.HandleFunc("GET /x/2/users/me", s.xAuthenticated(f, "users.read", s.xMe, "me"))
	mux.HandleFunc("GET /x/2/users/{id}/tweets", s.xAuthenticated(f, "tweet.read", s.xList, "list"))
	mux.HandleFunc("GET /x/2/tweets", s.xAuthenticated(f, "tweet.read", s.xLookup, "reads"))
	mux.HandleFunc("POST /x/2/tweets", s.xAuthenticated(f, "tweet.write", s.xCreate, "posts"))
	mux.HandleFunc("DELETE /x/2/tweets/{id}", s.xAuthenticated(f, "tweet.write", s.xDelete, "deletes"))
	mux.HandleFunc("POST /x/2/media/upload/initialize", s.xAuthenticated(f, "media.write", s.xInitialize, "uploads"))
	mux.HandleFunc("POST /x/2/media/upload/{id}/append", s.xAuthenticated(f, "media.write", s.xAppend, "segments"))
	mux.HandleFunc("POST /x/2/media/upload/{id}/finalize",
		s.xAuthenticated(f, "media.write", s.xFinalize, "finalizations"))
	mux.HandleFunc("GET /x/2/media/upload", s.xAuthenticated(f, "media.write", s.xStatus, "status"))
	mux.HandleFunc("POST /x/2/media/metadata", s.xAuthenticated(f, "media.write", s.xMetadata, "metadata"))
	mux.HandleFunc("GET /x/{name}/status/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, "/#p"+strconv.FormatUint(id, 10), http.StatusFound)
	})
}

// xAuthenticated serves a call with a valid token that has the scope.
func (s xFake) xAuthenticated(
	f *fakeNetwork, scope string, next func(http.ResponseWriter, *http.Request, caller), bucket string,
) http.HandlerFunc {
	return s.authenticatedFor(f, func(w http.ResponseWriter, r *http.Request, c caller) {
		if !c.allowed(scope) {
			writeProblem(w, http.StatusForbidden, xProblem{Detail: "Forbidden"})
			return
		}
		next(w, r, c)
	}, bucket)
}

// xProblem is X's error body; empty fields are derived from the status.
type xProblem struct {
	Title  string     `json:"title"`
	Detail string     `json:"detail"`
	Type   string     `json:"type"`
	Status int        `json:"status"`
	Errors []xMessage `json:"errors,omitempty"`
}

type xMessage struct {
	Parameters map[string][]string `json:"parameters,omitempty"`
	Message    string              `json:"message"`
}

func writeProblem(w http.ResponseWriter, status int, p xProblem) {
	p.Status = status
	if p.Title == "" {
		p.Title = http.StatusText(status)
	}
	if p.Type == "" {
		p.Type = "about:blank"
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}

// invalidRequest writes X's error for an invalid parameter.
func invalidRequest(w http.ResponseWriter, message string, parameters map[string][]string) {
	writeProblem(w, http.StatusBadRequest, xProblem{
		Title: "Invalid Request", Detail: "One or more parameters to your request was invalid.",
		Type: "https://api.x.com/2/problems/invalid-request", Errors: []xMessage{{parameters, message}},
	})
}

func xNotFound(w http.ResponseWriter, kind, id string) {
	writeProblem(w, http.StatusNotFound, xProblem{
		Title: "Not Found Error", Detail: "Could not find " + kind + " with id: [" + id + "].",
		Type: "https://api.x.com/2/problems/resource-not-found",
	})
}

func xStatusMessage(status int) string {
	switch status {
	case http.StatusForbidden:
		return "You are not permitted to perform this action."
	case http.StatusServiceUnavailable:
		return "The service is temporarily unavailable."
	default:
		return http.StatusText(status)
	}
}

// readJSON decodes a body and refuses unknown fields.
func readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		invalidRequest(w, "Requests with bodies must be valid JSON: "+err.Error(), nil)
		return false
	}
	return true
}

func (s xFake) xMe(w http.ResponseWriter, r *http.Request, c caller) {
	user := map[string]any{
		"id": c.account.ID, "name": strings.ToUpper(c.account.Name[:1]) + c.account.Name[1:],
		"username": c.account.Name,
	}
	if strings.Contains(r.URL.Query().Get("user.fields"), "profile_image_url") {
		user["profile_image_url"] = avatarOf(r, c.account)
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": user})
}
