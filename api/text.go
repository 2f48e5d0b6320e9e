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
	"golang.org/x/text/unicode/norm"

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
		problems[i] = apperr.FieldError{
			Field: field, Code: "invalid", Message: "Must be valid UTF-8 without NUL characters.",
		}
	}
	return problems
}

// composed rewrites the strings of a JSON document as NFC (UAX #15), which networks count
// and link: Telegram ends a hashtag at a combining mark. Values that are secrets stay as
// they are. raw must be valid JSON.
func composed(raw []byte) []byte {
	var out []byte
	done, secret := 0, false
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			i++
			continue
		}
		end := stringEnd(raw, i)
		token := raw[i:end]
		if isName := bytes.HasPrefix(bytes.TrimLeft(raw[end:], " \t\r\n"), []byte(":")); isName {
			secret = isSecretName(token)
		} else if text, changed := composedString(token); changed && !secret {
			out = append(append(out, raw[done:i]...), text...)
			done = end
		}
		i = end
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

func isSecretName(token []byte) bool {
	for _, part := range []string{"password", "secret", "token"} {
		if bytes.Contains(bytes.ToLower(token), []byte(part)) {
			return true
		}
	}
	return false
}

// composedString returns a JSON string as NFC, and whether that changes it.
func composedString(token []byte) (out []byte, changed bool) {
	if norm.NFC.IsNormal(token) && !bytes.Contains(token, []byte(`\u`)) {
		return nil, false
	}
	var text string
	if json.Unmarshal(token, &text) != nil || norm.NFC.IsNormalString(text) {
		return nil, false
	}
	out, err := json.Marshal(norm.NFC.String(text))
	return out, err == nil
}

// replaced lists the fields of a JSON document that hold U+FFFD, which stands for bytes
// that were not understood: the text was read in a wrong encoding before it was sent.
func replaced(raw []byte) (fields []apperr.FieldError) {
	isEscaped := bytes.Contains(raw, []byte(`\u`)) && bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`))
	if !isEscaped && !bytes.ContainsRune(raw, utf8.RuneError) {
		return nil
	}
	var document any
	if json.Unmarshal(raw, &document) != nil {
		return nil
	}
	names := withRune("", document, utf8.RuneError)
	slices.Sort(names)
	for _, name := range names {
		fields = append(fields, apperr.Field(name, "replacement_character",
			"The text contains U+FFFD in place of letters that were lost: read it in its encoding, and send "+
				"it as UTF-8."))
	}
	return fields
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
	return withRune("", document, 0)
}

// withRune lists the fields of a JSON document that hold a character, like
// thread[0].content.
func withRune(path string, value any, r rune) (fields []string) {
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, r) {
			if path == "" {
				path = "body"
			}
			return []string{path}
		}
	case []any:
		for i, one := range v {
			fields = append(fields, withRune(fmt.Sprintf("%s[%d]", path, i), one, r)...)
		}
	case map[string]any:
		for name, one := range v {
			if strings.ContainsRune(name, r) {
				fields = append(fields, join(path, strings.ReplaceAll(name, string(r), "")))
			}
			fields = append(fields, withRune(join(path, name), one, r)...)
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
	writeProblem(c, http.StatusUnprocessableEntity, "invalid_request",
		"Some fields hold NUL characters or bytes that are not UTF-8; see errors.", problems)
	return true
}

// refuseReplaced refuses posts whose text was damaged before it was sent.
func refuseReplaced(c *gin.Context, raw []byte) {
	if problems := replaced(raw); len(problems) > 0 {
		writeProblem(c, http.StatusUnprocessableEntity, "invalid_request",
			"Some texts were damaged before they were sent; see errors.", problems)
	}
}
