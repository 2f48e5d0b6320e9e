package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/gin-gonic/gin"

	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl/websub"
)

// validator validates requests against openapi.yaml before a handler runs.
type validator struct {
	doc *openapi3.T
	// doc30 is doc as version 3.0 of OpenAPI, whose schemas the library checks directly.
	// With 3.1 it compiles the schema again for every request, which was 40 % of the CPU
	// time of creating a post. TestOpenAPI_NeedsNoKeywordOf31 guards the difference.
	doc30     *openapi3.T
	maxBody   int64
	maxUpload int64
}

func newValidator(doc *openapi3.T, maxBody, maxUpload int64) *validator {
	doc30 := *doc
	doc30.OpenAPI = "3.0.3"
	return &validator{doc: doc, doc30: &doc30, maxBody: maxBody, maxUpload: maxUpload}
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// describedPath writes a route as openapi.yaml does.
func describedPath(route string) string { return pathParameter.ReplaceAllString(route, "{$1}") }

// operation returns the operation of a matched route in openapi.yaml, or nil if it has
// none.
func (v *validator) operation(c *gin.Context) (*openapi3.Operation, *openapi3.PathItem, string) {
	path := describedPath(c.FullPath())
	item := v.doc.Paths.Value(path)
	if item == nil {
		return nil, nil, ""
	}
	return item.GetOperation(c.Request.Method), item, path
}

// limit refuses bodies that are larger than any request needs, also those without a
// declared length.
func (v *validator) limit() gin.HandlerFunc {
	return func(c *gin.Context) {
		limit := v.maxBody
		switch {
		case isUpload(c):
			limit = v.maxUpload
		case isBulk(c):
			limit = bulkMaxBody
		case c.FullPath() == hubRoute:
			limit = websub.MaxDelivery
		}
		if c.Request.ContentLength > limit {
			writeTooLarge(c, limit)
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
	}
}

func isUpload(c *gin.Context) bool {
	return c.Request.Method == http.MethodPost &&
		(c.FullPath() == "/api/v1/media" || c.FullPath() == "/api/v1/workspace/import" || c.FullPath() == importRoute)
}

// isBulk reports whether the handler of a request reads the body row by row.
func isBulk(c *gin.Context) bool {
	return c.Request.Method == http.MethodPost && c.FullPath() == bulkRoute
}

func writeTooLarge(c *gin.Context, limit int64) {
	writeProblem(c, http.StatusRequestEntityTooLarge, "too_large",
		fmt.Sprintf("The body is larger than %d bytes.", limit),
		[]apperr.FieldError{{Field: "body", Code: "too_large", Message: fmt.Sprintf("At most %d bytes.", limit)}})
}

func (v *validator) validate() gin.HandlerFunc {
	return func(c *gin.Context) {
		op, item, path := v.operation(c)
		if op == nil {
			return
		}
		var raw []byte
		var ok bool
		ownBody := isUpload(c) || isBulk(c)
		if ownBody {
			if unsupported(c, op) {
				writeUnsupported(c, op)
				return
			}
		} else if raw, ok = readBody(c, op); !ok {
			return
		}
		params := make(map[string]string, len(c.Params))
		for _, p := range c.Params {
			params[p.Key] = p.Value
		}
		// Authentication takes place elsewhere (authenticate). The library would hold the
		// body in memory for it, which may be a whole video.
		open := *op
		open.Security = &openapi3.SecurityRequirements{}
		err := openapi3filter.ValidateRequest(c.Request.Context(), &openapi3filter.RequestValidationInput{
			Request: c.Request, PathParams: params,
			Route: &routers.Route{
				Spec: v.doc30, Path: path, PathItem: item, Method: c.Request.Method, Operation: &open,
			},
			Options: &openapi3filter.Options{MultiError: true, ExcludeRequestBody: ownBody, SkipSettingDefaults: true},
		})
		if err == nil {
			if op.OperationID != "previewPost" { // stores nothing, and lists problems itself
				refuseUnstorable(c, raw)
			}
			if strings.HasPrefix(path, "/api/v1/posts") && !c.IsAborted() {
				refuseReplaced(c, raw)
			}
			return
		}
		writeProblem(c, http.StatusBadRequest, "invalid_request",
			"The request does not fit the API's description; see errors.", flatten(err))
	}
}

// readBody reads a body within its limit and distinguishes one that is too large from a
// malformed one. Decoders ignore everything after the first document and replace
// invalid UTF-8; both are refused, because they are not what the client meant to send.
func readBody(c *gin.Context, op *openapi3.Operation) (raw []byte, ok bool) {
	wanted := op.RequestBody != nil
	raw, err := io.ReadAll(c.Request.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeTooLarge(c, tooLarge.Limit)
		return nil, false
	case err != nil:
		writeProblem(c, http.StatusBadRequest, "invalid_request", "The body is incomplete.",
			[]apperr.FieldError{{Field: "body", Code: "incomplete", Message: "The body is incomplete."}})
		return nil, false
	case len(raw) > 0 && !wanted:
		writeProblem(c, http.StatusBadRequest, "invalid_request", "This request must not have a body.",
			[]apperr.FieldError{{Field: "body", Code: "unexpected", Message: "This request must not have a body."}})
		return nil, false
	case len(raw) == 0 && wanted && !op.RequestBody.Value.Required:
		// Ignored, whatever the headers say about it.
	case unsupported(c, op):
		writeUnsupported(c, op)
		return nil, false
	case wanted && c.ContentType() == formType && !utf8.Valid(raw):
		writeProblem(c, http.StatusBadRequest, "invalid_request", "The body is not a form.",
			[]apperr.FieldError{{Field: "body", Code: "invalid", Message: "The body must be a form in UTF-8."}})
		return nil, false
	case wanted && c.ContentType() != formType && (!utf8.Valid(raw) || !json.Valid(raw)):
		writeProblem(c, http.StatusBadRequest, "invalid_request", "The body is not a JSON document.",
			[]apperr.FieldError{
				{Field: "body", Code: "not_json", Message: "The body must be a single JSON document in UTF-8."},
			})
		return nil, false
	}
	if wanted && c.ContentType() != formType && len(raw) > 0 {
		raw = composed(plainIntegers(raw))
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(raw))
	return raw, true
}

// formType is how a page without a program sends its form.
const formType = "application/x-www-form-urlencoded"

func unsupported(c *gin.Context, op *openapi3.Operation) bool {
	return op.RequestBody != nil && op.RequestBody.Value.Content.Get(c.ContentType()) == nil
}

func writeUnsupported(c *gin.Context, op *openapi3.Operation) {
	accepted := strings.Join(slices.Sorted(maps.Keys(op.RequestBody.Value.Content)), " or ")
	writeProblem(c, http.StatusUnsupportedMediaType, "unsupported_media_type", "Send the body as "+accepted+".",
		[]apperr.FieldError{{Field: "Content-Type", Code: "unsupported", Message: "Must be " + accepted + "."}})
}

// flatten lists the problems, one per field.
func flatten(err error) []apperr.FieldError {
	var many openapi3.MultiError
	var request *openapi3filter.RequestError
	var schema *openapi3.SchemaError
	var parse *openapi3filter.ParseError
	switch {
	case errors.As(err, &request) && request.Parameter != nil:
		return []apperr.FieldError{
			{Field: request.Parameter.Name, Code: "invalid", Message: sentence(parameterReason(request))},
		}
	case errors.As(err, &many):
		var all []apperr.FieldError
		for _, one := range many {
			all = append(all, flatten(one)...)
		}
		return all
	case errors.As(err, &schema):
		return schemaProblems(schema)
	case errors.As(err, &parse):
		return []apperr.FieldError{{Field: "body", Code: "not_json", Message: "The body is not valid JSON."}}
	default:
		return []apperr.FieldError{{Field: "body", Code: "invalid", Message: sentence(err.Error())}}
	}
}

func parameterReason(e *openapi3filter.RequestError) string {
	var schema *openapi3.SchemaError
	if errors.As(e.Err, &schema) {
		return schema.Reason
	}
	return e.Error()
}

// The validator's message about an object begins with its location and names the
// missing or unknown properties. Schemas with references are checked by another part of
// the library with other messages.
var (
	location = regexp.MustCompile(`^[Aa]t '[^']*': `)
	quoted   = regexp.MustCompile(`'([^']*)'|^[Pp]roperty "([^"]*)" is `)
	index    = regexp.MustCompile(`^\d+$`)
)

// schemaProblems names the field by its path, like attachments[0].
func schemaProblems(e *openapi3.SchemaError) []apperr.FieldError {
	field := ""
	for _, step := range e.JSONPointer() {
		if index.MatchString(step) {
			field += "[" + step + "]"
		} else {
			field = join(field, step)
		}
	}
	code, ok := map[string]string{
		"required": "required", "type": "wrong_type", "maxLength": "too_long",
		"minLength": "too_short",
		"enum":      "not_allowed", "maxItems": "too_many", "minItems": "too_few", "format": "wrong_format",
		"minProperties": "empty",
		"properties":    "unknown_field", "additionalProperties": "unknown_field",
	}[e.SchemaField]
	if !ok {
		code = "invalid"
	}
	reason := location.ReplaceAllString(e.Reason, "")
	var problems []apperr.FieldError
	if code == "required" || code == "unknown_field" {
		message := map[string]string{
			"required":      "This field is missing.",
			"unknown_field": "This field does not exist.",
		}[code]
		for _, property := range quoted.FindAllStringSubmatch(reason, -1) {
			name := property[1] + property[2]
			path := join(field, name)
			if steps := e.JSONPointer(); property[2] != "" && len(steps) > 0 && steps[len(steps)-1] == name {
				path = field // it is part of where it is, too
			}
			problems = append(problems, apperr.FieldError{Field: path, Code: code, Message: message})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	if field == "" {
		field = "body"
	}
	return []apperr.FieldError{{Field: field, Code: code, Message: sentence(reason)}}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sentence(s string) string {
	if s == "" {
		return "Invalid."
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

var parameter = regexp.MustCompile(`parameter ([^\s:,]+)`)

// refuseParameter names the parameter that the generated code could not parse: the
// validator accepts any text as an id.
func refuseParameter(c *gin.Context, err error, _ int) {
	field := "parameters"
	if m := parameter.FindStringSubmatch(err.Error()); m != nil {
		field = m[1]
	}
	writeProblem(c, http.StatusBadRequest, "invalid_request",
		"The request does not fit the API's description; see errors.",
		[]apperr.FieldError{{Field: field, Code: "wrong_format", Message: "The value is invalid."}})
}
