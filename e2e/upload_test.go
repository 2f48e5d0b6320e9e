package e2e

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
)

// upload attaches a picture and gives its id.
func (d *dateline) upload(name, altText string, encode func(io.Writer) error) string {
	d.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("alt_text", altText); err != nil {
		d.t.Fatal(err)
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := encode(part); err != nil {
		d.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		d.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, d.API+"/api/v1/media", &body)
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+d.Token)
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var media struct{ ID string }
	if err := json.NewDecoder(answer.Body).Decode(&media); err != nil || answer.StatusCode != http.StatusCreated {
		d.t.Fatalf("upload: %d %v", answer.StatusCode, err)
	}
	return media.ID
}

// small is a picture of a few pixels.
func small(w io.Writer) error { return png.Encode(w, image.NewGray(image.Rect(0, 0, 64, 32))) }

// photo is a picture that every network takes.
func photo(w io.Writer) error { return jpeg.Encode(w, image.NewGray(image.Rect(0, 0, 640, 640)), nil) }
