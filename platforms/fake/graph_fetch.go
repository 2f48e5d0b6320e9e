package fake

import (
	"bufio"
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // decoder for images
	_ "image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFetchBytes is more than any network's limit for videos.
const maxFetchBytes = 1 << 30

// fetched is an attachment that a network fetched.
type fetched struct {
	Media
	width, height int // of images
	tooLarge      bool
}

// fetch downloads an attachment, for networks that accept no uploads.
func (s graphFake) fetch(ctx context.Context, address string, c caller, description string) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fetched{}, err
	}
	req.Header.Set("User-Agent", "facebookexternalua")
	res, err := http.DefaultClient.Do(req) //nolint:gosec // the fake network fetches the caller's address
	if err != nil {
		return fetched{}, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fetched{}, http.ErrMissingFile
	}
	return s.saveMediaData(io.LimitReader(res.Body, maxFetchBytes), c, description)
}

// saveMediaData stores the bytes of an attachment and detects their type.
func (s graphFake) saveMediaData(data io.Reader, c caller, description string) (fetched, error) {
	file := bufio.NewReader(data)
	head, _ := file.Peek(512)
	f := fetched{Media: Media{AccountID: c.account.ID, Description: description, MIMEType: sniff(head)}}
	var source io.Reader = file
	if strings.HasPrefix(f.MIMEType, "image/") {
		all, err := io.ReadAll(io.LimitReader(file, imageLimit+1))
		if err != nil {
			return fetched{}, err
		}
		f.tooLarge = len(all) > 8<<20
		if size, _, err := image.DecodeConfig(bytes.NewReader(all)); err == nil {
			f.width, f.height = size.Width, size.Height
		}
		source = bytes.NewReader(all)
	}
	s.mu.Lock()
	f.ID = s.state.nextID(s.now())
	s.mu.Unlock()
	var err error
	if f.Bytes, err = s.saveMedia(f.ID, source); err != nil {
		return fetched{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := f.Media
	return f, s.commit(record{Kind: kindMedia, Media: &stored})
}

// sniff detects QuickTime in addition to the types of net/http.
func sniff(head []byte) string {
	if len(head) > 12 && string(head[4:8]) == "ftyp" {
		if string(head[8:10]) == "qt" {
			return "video/quicktime"
		}
		return "video/mp4"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	return kind
}

// mediaBytes opens stored bytes.
func (s graphFake) mediaBytes(id string) (io.ReadCloser, error) {
	if s.options.Journal != "" {
		return os.Open(filepath.Join(s.mediaDir(), id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NopCloser(bytes.NewReader(s.state.data[id])), nil
}
