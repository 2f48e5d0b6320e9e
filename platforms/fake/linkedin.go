package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const linkedinPrefix = "/linkedin"

// minLinkedInVersion is the oldest supported version of the API.
const minLinkedInVersion = "202511"

// linkedinError is LinkedIn's error object.
// https://learn.microsoft.com/en-us/linkedin/shared/api-guide/concepts/error-handling
type linkedinError struct {
	Status      int              `json:"status"`
	ServiceCode int              `json:"serviceErrorCode,omitempty"`
	Code        string           `json:"code,omitempty"`
	Message     string           `json:"message"`
	Details     *linkedinDetails `json:"errorDetails,omitempty"`
}

type linkedinDetails struct {
	Inputs []linkedinInput `json:"inputErrors"`
}

type linkedinInput struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

func refuseLinkedIn(w http.ResponseWriter, status int, code, format string, args ...any) {
	writeJSON(w, status, linkedinError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (s linkedinFake) linkedinNetwork() *fakeNetwork {
	f := &fakeNetwork{
		name:   "linkedin",
		prefix: linkedinPrefix,
		isAPI: func(path string) bool {
			return path != linkedinPrefix+"/oauth/v2/authorization" && !strings.HasPrefix(path, linkedinPrefix+"/feed/")
		},
		token: bearer,
		refuse: func(w http.ResponseWriter, status int, text string) {
			code := map[int]string{
				http.StatusUnauthorized: "INVALID_ACCESS_TOKEN", http.StatusForbidden: "ACCESS_DENIED",
				http.StatusNotFound: "NOT_FOUND", http.StatusUnprocessableEntity: "INVALID_VALUE_FOR_FIELD",
			}[status]
			if text == "" {
				text = http.StatusText(status)
			}
			refuseLinkedIn(w, status, code, "%s", text)
		},
		expired: func(w http.ResponseWriter) {
			writeJSON(w, http.StatusUnauthorized, linkedinError{
				Status: 401, ServiceCode: 65602, Code: "EXPIRED_ACCESS_TOKEN",
				Message: "The token used in the request has expired",
			})
		},
		writeThrottled: func(w http.ResponseWriter, _ time.Duration) {
			writeJSON(w, http.StatusTooManyRequests,
				linkedinError{
					Status: 429, ServiceCode: 101, Code: "TOO_MANY_REQUESTS",
					Message: "Resource level throttle APPLICATION_AND_MEMBER DAY limit for calls to this resource " +
						"is reached.",
				})
		},
		corruptHeaders: func(h http.Header) { h.Del("X-Restli-Id") },
		requestID:      "X-Li-Uuid",
	}
	f.routes = func(mux *http.ServeMux) { s.routeLinkedIn(f, mux) }
	return f
}

func (s linkedinFake) routeLinkedIn(f *fakeNetwork, mux *http.ServeMux) {
	handle := func(pattern string, handler http.HandlerFunc) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+linkedinPrefix+path, handler)
	}
	rest := func(pattern string, next func(http.ResponseWriter, *http.Request, caller), buckets ...string) {
		handle(pattern, linkedinVersioned(s.authenticatedFor(f, next, buckets...)))
	}
	handle("GET /oauth/v2/authorization", s.consent(f, 30*time.Minute))
	handle("POST /oauth/v2/authorization", s.consent(f, 30*time.Minute))
	handle("POST /oauth/v2/accessToken", s.linkedinToken)
	handle("GET /v2/userinfo", s.authenticatedFor(f, s.linkedinPerson))
	rest("GET /rest/organizationAcls", s.linkedinRoles)
	rest("GET /rest/organizations", s.linkedinOrganizations)
	rest("POST /rest/images", s.linkedinImage, "images")
	rest("GET /rest/images/{urn}", s.linkedinMediaStatus)
	rest("POST /rest/videos", s.linkedinVideo, "videos")
	rest("GET /rest/videos/{urn}", s.linkedinMediaStatus)
	rest("POST /rest/documents", s.linkedinDocument, "images")
	rest("GET /rest/documents/{urn}", s.linkedinMediaStatus)
	handle("PUT /dms-uploads/{id}", s.authenticatedFor(f, s.linkedinUpload))
	rest("POST /rest/posts", s.linkedinPost, "posts")
	rest("GET /rest/posts", s.linkedinPosts)
	rest("GET /rest/posts/{urn}", s.linkedinOnePost)
	rest("DELETE /rest/posts/{urn}", s.linkedinDelete)
	rest("POST /rest/socialActions/{urn}/comments", s.linkedinComment, "comments")
	rest("GET /rest/socialActions/{urn}/comments", s.linkedinComments)
	rest("DELETE /rest/socialActions/{urn}/comments/{id}", s.linkedinDeleteComment)
	rest("GET /rest/organizationalEntityShareStatistics", s.linkedinStatistics)
	rest("GET /rest/memberCreatorPostAnalytics", s.linkedinAnalytics)
	rest("GET /v2/socialActions/{urn}", s.linkedinActions)
	handle("GET /feed/update/{urn}", s.linkedinPage)
}

// linkedinVersioned requires the headers of versioned calls.
// https://learn.microsoft.com/en-us/linkedin/marketing/versioning
func linkedinVersioned(next http.HandlerFunc) http.HandlerFunc {
	month := regexp.MustCompile(`^20[0-9]{2}(0[1-9]|1[0-2])$`)
	return func(w http.ResponseWriter, r *http.Request) {
		version := r.Header.Get("Linkedin-Version")
		switch {
		case version == "":
			refuseLinkedIn(w, http.StatusBadRequest, "VERSION_MISSING",
				"A version must be present. Please specify a version by adding the LinkedIn-Version header.")
		case !month.MatchString(version):
			refuseLinkedIn(w, http.StatusBadRequest, "INVALID_VERSION", "Invalid version format.")
		case version < minLinkedInVersion:
			refuseLinkedIn(w, http.StatusUpgradeRequired, "NONEXISTENT_VERSION", "Requested version %s01 is not active",
				version)
		case r.Header.Get("X-Restli-Protocol-Version") != "2.0.0":
			refuseLinkedIn(w, http.StatusBadRequest, "ILLEGAL_ARGUMENT", "Invalid query parameters passed to request")
		default:
			next(w, r)
		}
	}
}

// linkedinAuthor returns the account that a call acts as: the member that the
// token belongs to, or one of their organizations. ok is false if a refusal was
// written.
func (s linkedinFake) linkedinAuthor(w http.ResponseWriter, urn string, c caller) (author Account, refused bool) {
	kind, id, ok := linkedinURN(urn)
	s.mu.Lock()
	found := s.state.accounts[id]
	if found != nil {
		author = *found
	}
	s.mu.Unlock()
	scope := "w_member_social"
	if kind == "organization" {
		scope = "w_organization_social"
	}
	switch {
	case !c.allowed(scope):
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Not enough permissions to access: partnerApiPostsExternal.CREATE.20260701")
	case !ok || found == nil || author.network() != "linkedin":
		refuseLinkedIn(w, http.StatusBadRequest, "INVALID_URN_ID", "This URN Id is invalid")
	case kind == "person" && id == c.account.ID, kind == "organization" && author.OwnerID == c.account.ID:
		return author, false
	default:
		refuseLinkedIn(w, http.StatusForbidden, "ACCESS_DENIED",
			"Organization permissions must be used when using organization as author")
	}
	return Account{}, true
}

// linkedinURN parses urn:li:kind:id.
func linkedinURN(urn string) (kind, id string, ok bool) {
	rest, ok := strings.CutPrefix(urn, "urn:li:")
	kind, id, colon := strings.Cut(rest, ":")
	return kind, id, ok && colon && id != ""
}

func linkedinURNOf(a Account) string {
	if a.Kind == "organization" {
		return "urn:li:organization:" + a.ID
	}
	return "urn:li:person:" + a.ID
}

// readLinkedIn decodes a JSON body, in which LinkedIn refuses unknown fields.
func readLinkedIn(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		refuseLinkedIn(w, http.StatusUnprocessableEntity, "", "ERROR :: %s :: unrecognized field found but not allowed",
			err)
		return false
	}
	return true
}
