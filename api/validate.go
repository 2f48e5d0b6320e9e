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
	doc        *openapi3.T
	paths      []string              // sorted: '{' is after letters, so that a fixed segment is first
	operations map[string]*operation // by method and route
	maxBody    int64
	maxUpload  int64
}

// operation is an operation of openapi.yaml as each request needs it.
type operation struct {
	id     string
	access access
	body   *openapi3.RequestBody // nil: has none
	// route is for the library that validates. Its operation accepts anybody, because
	// authentication takes place elsewhere (authenticate): the library would hold the body in
	// memory for it, which may be a whole video.
	route *routers.Route
}

func newValidator(doc *openapi3.T, table map[string]access, maxBody, maxUpload int64) *validator {
	paths := doc.Paths.Map()
	v := &validator{
		doc: doc, paths: slices.Sorted(maps.Keys(paths)), operations: map[string]*operation{},
		maxBody: maxBody, maxUpload: maxUpload,
	}
	for path, item := range paths {
		for method, op := range item.Operations() {
			open := *op
			open.Security = &openapi3.SecurityRequirements{}
			described := &operation{id: op.OperationID, access: table[op.OperationID], route: &routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: &open,
			}}
			if op.RequestBody != nil {
				described.body = op.RequestBody.Value
			}
			v.operations[method+" "+routeOf(path)] = described
		}
	}
	return v
}

// routeOf writes a path of openapi.yaml as the router does.
func routeOf(path string) string { return strings.NewReplacer("{", ":", "}", "").Replace(path) }

// operation returns the operation of a matched route, or nil if openapi.yaml has none.
func (v *validator) operation(c *gin.Context) *operation {
	return v.operations[c.Request.Method+" "+c.FullPath()]
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
		op := v.operation(c)
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
		if err := check(c, op, raw, ownBody); err != nil {
			writeProblem(c, http.StatusBadRequest, "invalid_request",
				"The request does not fit the API's description; see errors.", flatten(err))
			return
		}
		if op.id != "previewPost" { // stores nothing, and lists problems itself
			refuseUnstorable(c, raw)
		}
		if strings.HasPrefix(op.route.Path, "/api/v1/posts") && !c.IsAborted() {
			refuseReplaced(c, raw)
		}
	}
}

// check compares a request with its operation. The library would read and parse a JSON body
// again, so that the document that readBody has read is checked here.
func check(c *gin.Context, op *operation, raw []byte, ownBody bool) error {
	isJSON := len(raw) > 0 && c.ContentType() == jsonType
	params := make(map[string]string, len(c.Params))
	for _, p := range c.Params {
		params[p.Key] = p.Value
	}
	err := openapi3filter.ValidateRequest(c.Request.Context(), &openapi3filter.RequestValidationInput{
		Request: c.Request, PathParams: params, Route: op.route,
		Options: &openapi3filter.Options{
			MultiError: true, ExcludeRequestBody: ownBody || isJSON, SkipSettingDefaults: true,
		},
	})
	if err != nil || !isJSON {
		return err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	media := op.body.Content.Get(jsonType)
	if err := decoder.Decode(&value); err != nil || media.Schema == nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())
}

// readBody reads a body within its limit and distinguishes one that is too large from a
// malformed one. Decoders ignore everything after the first document and replace
// invalid UTF-8; both are refused, because they are not what the client meant to send.
func readBody(c *gin.Context, op *operation) (raw []byte, ok bool) {
	wanted := op.body != nil
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
	case len(raw) == 0 && wanted && !op.body.Required:
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

const (
	jsonType = "application/json"
	// formType is how a page without a program sends its form.
	formType = "application/x-www-form-urlencoded"
)

func unsupported(c *gin.Context, op *operation) bool {
	return op.body != nil && op.body.Content.Get(c.ContentType()) == nil
}

func writeUnsupported(c *gin.Context, op *operation) {
	accepted := strings.Join(slices.Sorted(maps.Keys(op.body.Content)), " or ")
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
