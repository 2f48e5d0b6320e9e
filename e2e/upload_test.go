package e2e

import (
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
)

// upload streams a file and returns its id.
func (d *dateline) upload(name, altText string, encode func(io.Writer) error) string {
	d.t.Helper()
	body, sent := io.Pipe()
	form := multipart.NewWriter(sent)
	go func() {
		err := form.WriteField("alt_text", altText)
		var part io.Writer
		if err == nil {
			part, err = form.CreateFormFile("file", name)
		}
		if err == nil {
			err = encode(part)
		}
		if err == nil {
			err = form.Close()
		}
		_ = sent.CloseWithError(err) // nil ends the body; anything else fails the request
	}()
	request, err := http.NewRequest(http.MethodPost, d.API+"/api/v1/media", body)
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

// photo is a picture that every network accepts.
func photo(w io.Writer) error { return jpeg.Encode(w, image.NewGray(image.Rect(0, 0, 640, 640)), nil) }
