package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// Body is a request body. It can be read once: net/http cannot repeat a request
// whose body cannot be rewound.
type Body struct {
	Type   string // Content-Type
	Length int64  // -1: unknown, sent in chunks
	Reader io.Reader
	Closer io.Closer // closed when net/http is done with the body; may be nil
}

// JSON encodes value as a request body.
func JSON(value any) (*Body, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode the request as JSON: %w", err)
	}
	return &Body{Type: "application/json", Length: int64(len(data)), Reader: bytes.NewReader(data)}, nil
}

// Form encodes values as an HTML form (application/x-www-form-urlencoded).
func Form(values url.Values) *Body {
	text := values.Encode()
	return &Body{Type: "application/x-www-form-urlencoded", Length: int64(len(text)), Reader: strings.NewReader(text)}
}

// File is a file in a multipart form.
type File struct {
	Field string
	Name  string
	Type  string
	Bytes int64 // 0: unknown
	Data  io.ReadCloser
}

// Multipart returns a multipart form with fields and files. Files are streamed:
// only the frame around them is held in memory. Fields come before files, in the
// order of their names.
func Multipart(fields map[string]string, files ...File) (*Body, error) {
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, err := form.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="` + quotedName(name) + `"`},
		})
		if err == nil {
			_, err = io.WriteString(field, fields[name])
		}
		if err != nil {
			return nil, fmt.Errorf("write form field %s: %w", name, err)
		}
	}
	var parts []io.Reader
	var data closers
	length := int64(0)
	// cut moves the frame written so far to parts.
	cut := func() {
		piece := bytes.Clone(frame.Bytes())
		frame.Reset()
		parts = append(parts, bytes.NewReader(piece))
		if length >= 0 {
			length += int64(len(piece))
		}
	}
	for _, file := range files {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", `form-data; name="`+quotedName(file.Field)+`"; filename="`+
			quotedName(file.Name)+`"`)
		header.Set("Content-Type", file.Type)
		if _, err := form.CreatePart(header); err != nil {
			return nil, fmt.Errorf("write the form's file part: %w", err)
		}
		cut()
		parts, data = append(parts, file.Data), append(data, file.Data)
		if file.Bytes > 0 && length >= 0 {
			length += file.Bytes
		} else {
			length = -1
		}
	}
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("close the form: %w", err)
	}
	cut()
	return &Body{Type: form.FormDataContentType(), Length: length, Reader: io.MultiReader(parts...), Closer: data}, nil
}

// quotedName encodes the name of a field or file as browsers and curl do: percent-encoded
// is what would end it (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html
// #multipart-form-data). The backslashes of net/textproto are refused by servers on
// Node.js 20 to 24.
func quotedName(name string) string {
	return strings.NewReplacer("\"", "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

// closers closes all of its elements.
type closers []io.Closer

func (c closers) Close() error {
	var all error
	for _, one := range c {
		all = errors.Join(all, one.Close())
	}
	return all
}
