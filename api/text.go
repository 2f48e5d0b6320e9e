package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"dateline/internal/infra/apperr"
)

// plainIntegers writes numbers such as 725.0 and 7.25e2 as 725: JSON Schema treats them
// as integers (draft 2020-12 validation, section 6.1.1), Go's decoder does not. Numbers
// from 2^53 on are left unchanged, because a float64 cannot represent all integers
// there. raw must be valid JSON.
func plainIntegers(raw []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = stringEnd(raw, i)
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && strings.IndexByte("0123456789+-.eE", raw[end]) >= 0 {
				end++
			}
			if plain, ok := plainInteger(raw[i:end]); ok {
				out = append(append(out, raw[done:i]...), plain...)
				done = end
			}
			i = end
		default:
			i++
		}
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// stringEnd returns the index after a JSON string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func plainInteger(number []byte) (string, bool) {
	if !bytes.ContainsAny(number, ".eE") {
		return "", false
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// unstorable finds text that Postgres cannot keep, NUL and invalid UTF-8, in the
// parameters and the body of a request (www.postgresql.org/docs/current/datatype-character.html).
func unstorable(c *gin.Context, raw []byte) []apperr.FieldError {
	var fields []string
	for _, p := range c.Params {
		if !storable(p.Value) {
			fields = append(fields, p.Key)
		}
	}
	for name, values := range c.Request.URL.Query() {
		if slices.ContainsFunc(values, func(v string) bool { return !storable(v) }) {
			fields = append(fields, name)
		}
	}
	fields = append(fields, unstorableIn(c.ContentType(), raw)...)
	slices.Sort(fields)
	problems := make([]apperr.FieldError, len(fields))
	for i, field := range fields {
		problems[i] = apperr.FieldError{Field: field, Code: "invalid", Message: "Must be valid UTF-8 without NUL characters."}
	}
	return problems
}

func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func unstorableIn(contentType string, raw []byte) []string {
	if contentType == formType {
		form, _ := url.ParseQuery(string(raw))
		var fields []string
		for name, values := range form {
			if slices.ContainsFunc(values, func(v string) bool { return !storable(v) }) {
				fields = append(fields, name)
			}
		}
		return fields
	}
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return nil // JSON has no other way to write a NUL (RFC 8259, section 7)
	}
	var document any
	if json.Unmarshal(raw, &document) != nil {
		return nil
	}
	return withNUL("", document)
}

// withNUL lists the fields of a JSON document that hold a NUL, like thread[0].content.
func withNUL(path string, value any) (fields []string) {
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			if path == "" {
				path = "body"
			}
			return []string{path}
		}
	case []any:
		for i, one := range v {
			fields = append(fields, withNUL(fmt.Sprintf("%s[%d]", path, i), one)...)
		}
	case map[string]any:
		for name, one := range v {
			if strings.ContainsRune(name, 0) {
				fields = append(fields, join(path, strings.ReplaceAll(name, "\x00", "")))
			}
			fields = append(fields, withNUL(join(path, name), one)...)
		}
	}
	return fields
}

// refuseUnstorable refuses values that the database cannot store.
func refuseUnstorable(c *gin.Context, raw []byte) bool {
	problems := unstorable(c, raw)
	if len(problems) == 0 {
		return false
	}
	writeProblem(c, http.StatusUnprocessableEntity, "invalid_request", "Some fields hold NUL characters or bytes that are not UTF-8; see errors.", problems)
	return true
}
