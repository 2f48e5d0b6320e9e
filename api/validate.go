package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/gin-gonic/gin"

	"dateline/internal/post"
)

// validator holds requests against openapi.yaml before a handler sees them.
type validator struct {
	doc       *openapi3.T
	maxBody   int64
	maxUpload int64
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// operation finds what openapi.yaml says of a matched route; nil when it is
// not described there.
func (v *validator) operation(c *gin.Context) (*openapi3.Operation, *openapi3.PathItem, string) {
	path := pathParameter.ReplaceAllString(c.FullPath(), "{$1}")
	item := v.doc.Paths.Value(path)
	if item == nil {
		return nil, nil, ""
	}
	return item.GetOperation(c.Request.Method), item, path
}

// public says whether a request needs no token: an unknown address, or an
// operation that says so.
func (v *validator) public(c *gin.Context) bool {
	op, _, _ := v.operation(c)
	return op == nil || (op.Security != nil && len(*op.Security) == 0)
}

// limit refuses bodies that are larger than any request needs, also those that
// do not say how long they are.
func (v *validator) limit() gin.HandlerFunc {
	return func(c *gin.Context) {
		most := v.maxBody
		if isUpload(c) {
			most = v.maxUpload
		}
		if c.Request.ContentLength > most {
			writeTooLarge(c, most)
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, most)
	}
}

func isUpload(c *gin.Context) bool {
	return c.Request.Method == http.MethodPost && c.FullPath() == "/api/v1/media"
}

func writeTooLarge(c *gin.Context, most int64) {
	writeProblem(c, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("The body is larger than %d bytes.", most),
		[]post.Problem{{Field: "body", Code: "too_large", Message: fmt.Sprintf("At most %d bytes.", most)}})
}

func (v *validator) validate() gin.HandlerFunc {
	return func(c *gin.Context) {
		op, item, path := v.operation(c)
		if op == nil {
			return
		}
		if !isUpload(c) && !readBody(c, op.RequestBody != nil) {
			return
		}
		params := make(map[string]string, len(c.Params))
		for _, p := range c.Params {
			params[p.Key] = p.Value
		}
		err := openapi3filter.ValidateRequest(c.Request.Context(), &openapi3filter.RequestValidationInput{
			Request: c.Request, PathParams: params,
			Route: &routers.Route{Spec: v.doc, Path: path, PathItem: item, Method: c.Request.Method, Operation: op},
			Options: &openapi3filter.Options{MultiError: true, ExcludeRequestBody: isUpload(c), SkipSettingDefaults: true,
				AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
		})
		if err == nil {
			return
		}
		problems := flatten(err)
		status, code, detail := http.StatusBadRequest, "invalid_request", "The request does not fit the API's description; see errors."
		if unsupported(c, op) {
			status, code, detail = http.StatusUnsupportedMediaType, "unsupported_media_type", "Send the body as application/json."
			problems = []post.Problem{{Field: "Content-Type", Code: "unsupported", Message: "Must be application/json."}}
		}
		writeProblem(c, status, code, detail, problems)
	}
}

// readBody reads a body within its limit, so that one that is too large is
// told from one that is broken.
func readBody(c *gin.Context, wanted bool) bool {
	raw, err := io.ReadAll(c.Request.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeTooLarge(c, tooLarge.Limit)
		return false
	case err != nil:
		writeProblem(c, http.StatusBadRequest, "invalid_request", "The body did not arrive whole.",
			[]post.Problem{{Field: "body", Code: "incomplete", Message: "The body did not arrive whole."}})
		return false
	case len(raw) > 0 && !wanted:
		writeProblem(c, http.StatusBadRequest, "invalid_request", "This request takes no body.",
			[]post.Problem{{Field: "body", Code: "unexpected", Message: "Leave the body out."}})
		return false
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(raw))
	return true
}

func unsupported(c *gin.Context, op *openapi3.Operation) bool {
	return op.RequestBody != nil && op.RequestBody.Value.Content.Get(c.ContentType()) == nil
}

// flatten lists what is wrong, a field each.
func flatten(err error) []post.Problem {
	var many openapi3.MultiError
	var request *openapi3filter.RequestError
	var schema *openapi3.SchemaError
	var parse *openapi3filter.ParseError
	switch {
	case errors.As(err, &request) && request.Parameter != nil:
		return []post.Problem{{Field: request.Parameter.Name, Code: "invalid", Message: sentence(parameterReason(request))}}
	case errors.As(err, &many):
		var all []post.Problem
		for _, one := range many {
			all = append(all, flatten(one)...)
		}
		return all
	case errors.As(err, &schema):
		return []post.Problem{schemaProblem(schema)}
	case errors.As(err, &parse):
		return []post.Problem{{Field: "body", Code: "not_json", Message: "The body is no JSON."}}
	default:
		return []post.Problem{{Field: "body", Code: "invalid", Message: sentence(err.Error())}}
	}
}

func parameterReason(e *openapi3filter.RequestError) string {
	var schema *openapi3.SchemaError
	if errors.As(e.Err, &schema) {
		return schema.Reason
	}
	return e.Error()
}

var quoted = regexp.MustCompile(`property "([^"]*)"`)

// schemaProblem names the field by its path, like attachments[0].
func schemaProblem(e *openapi3.SchemaError) post.Problem {
	field := ""
	for _, step := range e.JSONPointer() {
		switch {
		case regexp.MustCompile(`^\d+$`).MatchString(step):
			field += "[" + step + "]"
		case field == "":
			field = step
		default:
			field += "." + step
		}
	}
	code, ok := map[string]string{"required": "required", "type": "wrong_type", "maxLength": "too_long", "minLength": "too_short",
		"enum": "not_allowed", "maxItems": "too_many", "minItems": "too_few", "format": "wrong_format", "minProperties": "empty",
		"properties": "unknown_field", "additionalProperties": "unknown_field"}[e.SchemaField]
	if !ok {
		code = "invalid"
	}
	if m := quoted.FindStringSubmatch(e.Reason); m != nil && !strings.HasSuffix(field, m[1]) {
		field = strings.TrimPrefix(field+"."+m[1], ".")
	}
	if field == "" {
		field = "body"
	}
	return post.Problem{Field: field, Code: code, Message: sentence(e.Reason)}
}

func sentence(s string) string {
	if s == "" {
		return "Invalid."
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
