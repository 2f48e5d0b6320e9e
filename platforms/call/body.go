package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"
)

// Body is a request body. It is read once: a body that cannot be rewound is
// one that net/http cannot send again by itself.
type Body struct {
	Type   string // Content-Type
	Length int64  // -1: unknown, sent in chunks
	Reader io.Reader
	Closer io.Closer // closed once net/http is done with the body; may be nil
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

// File is the one file of a multipart form.
type File struct {
	Field string
	Name  string
	Type  string
	Bytes int64 // 0: unknown
	Data  io.ReadCloser
}

// Multipart makes a multipart form of fields and one file, which is streamed:
// only the frame around it is held in memory.
func Multipart(fields map[string]string, file File) (*Body, error) {
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			return nil, fmt.Errorf("write form field %s: %w", name, err)
		}
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", multipart.FileContentDisposition(file.Field, file.Name))
	header.Set("Content-Type", file.Type)
	if _, err := form.CreatePart(header); err != nil {
		return nil, fmt.Errorf("write the form's file part: %w", err)
	}
	head := bytes.Clone(frame.Bytes())
	frame.Reset()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("close the form: %w", err)
	}
	length := int64(-1)
	if file.Bytes > 0 {
		length = int64(len(head)) + file.Bytes + int64(frame.Len())
	}
	return &Body{
		Type:   form.FormDataContentType(),
		Length: length,
		Reader: io.MultiReader(bytes.NewReader(head), file.Data, &frame),
		Closer: file.Data,
	}, nil
}
