package fake

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// create creates a container.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
func (g *instagram) create(w http.ResponseWriter, r *http.Request, c caller) {
	created := graphContainer{
		Type: r.FormValue("media_type"), Item: r.FormValue("is_carousel_item") == "true",
		Text: r.FormValue("caption"),
	}
	var problem *graphError
	if created.Options, problem = instagramOptions(r, created.Type); problem != nil {
		refuseGraph(w, http.StatusBadRequest, *problem)
		return
	}
	asStory := created.Type == "STORIES"
	switch {
	case asStory && r.FormValue("image_url") != "":
		created.Type = "IMAGE"
	case asStory:
		created.Type = "REELS"
	case created.Type == "":
		created.Type = "IMAGE"
	}
	if problem := captionProblem(created.Text); problem != nil {
		refuseGraph(w, http.StatusBadRequest, *problem)
		return
	}
	switch image, video := r.FormValue("image_url"), r.FormValue("video_url"); {
	case created.Type == "CAROUSEL":
		problem = g.carousel(&created, c, strings.Split(r.FormValue("children"), ","))
	case created.Type == "VIDEO" && !created.Item:
		problem = &graphError{
			Message: "(#100) The VIDEO value for media_type is no longer supported. Use the REELS media_type to " +
				"publish a video to your Instagram feed.", Code: 100,
		}
	case (created.Type == "VIDEO" || created.Type == "REELS") && r.FormValue("upload_type") == "resumable":
		created.Upload = true
	case (created.Type == "VIDEO" || created.Type == "REELS") && video != "":
		problem = g.take(r, c, &created, video, "")
	case created.Type == "IMAGE" && image != "":
		problem = g.take(r, c, &created, image, r.FormValue("alt_text"))
	default:
		problem = &graphError{Message: "(#100) The parameter image_url or video_url is required", Code: 100}
	}
	if problem != nil {
		refuseGraph(w, http.StatusBadRequest, *problem)
		return
	}
	g.storeContainer(w, r, c, created)
}

// captionProblem counts independently of the adapter.
func captionProblem(caption string) *graphError {
	tags := regexp.MustCompile(`#[\p{L}\p{M}\p{Nd}_]+`).FindAllString(caption, -1)
	names := regexp.MustCompile(`(?:^|[^\p{L}\p{Nd}_/])@[A-Za-z0-9_.]+`).FindAllString(caption, -1)
	if utf8.RuneCountInString(caption) <= 2200 && len(tags) <= 30 && len(names) <= 20 {
		return nil
	}
	return &graphError{
		Message: "The caption was too long", Code: 36004, Subcode: 2207010, Title: "Caption too long",
		UserMessage: "The caption is too long: 2,200 characters, 30 hashtags and 20 mentions are allowed.",
	}
}

func (g *instagram) carousel(created *graphContainer, c caller, children []string) *graphError {
	if len(children) < 2 || len(children) > 10 {
		return &graphError{
			Message: "Invalid parameter", Code: 100, Subcode: 2207028,
			UserMessage: "Your post won't work as a carousel. Carousels need at least 2 photos/videos and no more " +
				"than 10 photos/videos.",
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range children {
		child, _, ok := g.container(id, c)
		if !ok || !child.Item || g.status(child, c) == "EXPIRED" {
			return &graphError{Message: "(#100) The child " + id + " is no carousel item", Code: 100}
		}
	}
	created.Children = children
	return nil
}

// take fetches an attachment and validates it.
func (g *instagram) take(r *http.Request, c caller, created *graphContainer, address, description string) *graphError {
	got, err := g.fetch(r.Context(), address, c, description)
	if err != nil {
		return &graphError{
			Message: "Only photo or video can be accepted as media type.", Code: 9004, Subcode: 2207052,
			Title:       "Media download has failed",
			UserMessage: "The media could not be fetched from this URI: " + address,
		}
	}
	if problem := instagramProblem(got, created.Type); problem != nil {
		return problem
	}
	created.Media = []Media{got.Media}
	return nil
}

func instagramProblem(got fetched, kind string) *graphError {
	switch {
	case kind != "IMAGE" && !strings.HasPrefix(got.MIMEType, "video/"):
		return &graphError{
			Message: "Unsupported video format", Code: 352, Subcode: 2207026,
			UserMessage: "The video format is not supported. Please check spec for supported format.",
		}
	case kind != "IMAGE":
		return nil
	case got.MIMEType != "image/jpeg":
		return &graphError{
			Message: "The image format is not supported", Code: 36001, Subcode: 2207005,
			UserMessage: "The image format is not supported. Supported formats are: JPEG.",
		}
	case got.tooLarge:
		return &graphError{
			Message: "The image size is too large.", Code: 36000, Subcode: 2207004,
			Title:       "Image size too large",
			UserMessage: "The image is too large to download. It should be less than 8 MiB.",
		}
	case got.height == 0 || float64(got.width)/float64(got.height) < 0.8 ||
		float64(got.width)/float64(got.height) > 1.91:
		return &graphError{
			Message: "The aspect ratio is not supported", Code: 36003, Subcode: 2207009,
			UserMessage: "The submitted image with aspect ratio cannot be published. Please submit an image with a " +
				"valid aspect ratio.",
		}
	}
	return nil
}

// upload accepts the bytes of a video from an offset on. The bytes of a broken
// upload are kept, and the next one must continue after them.
// https://developers.facebook.com/docs/instagram-platform/content-publishing/resumable-uploads
func (g *instagram) upload(w http.ResponseWriter, r *http.Request, c caller) {
	refuse := func(kind, message string, retriable bool) {
		writeJSON(w, http.StatusBadRequest, map[string]any{
			"debug_info": map[string]any{"retriable": retriable, "type": kind, "message": message},
		})
	}
	id := r.PathValue("id")
	g.mu.Lock()
	created, t, ok := g.container(id, c)
	g.mu.Unlock()
	offset, errOffset := strconv.ParseInt(r.Header.Get("Offset"), 10, 64)
	size, errSize := strconv.ParseInt(r.Header.Get("File_size"), 10, 64)
	isRequest := errOffset == nil && errSize == nil && strings.HasPrefix(r.Header.Get("Authorization"), "OAuth ")
	if !ok || !isRequest || !created.Upload || offset != created.Received {
		refuse("OffsetInvalidError", "Request starts at an offset that is not where the upload ended", false)
		return
	}
	before := io.NopCloser(strings.NewReader(""))
	if created.Partial != "" {
		var err error
		if before, err = g.mediaBytes(created.Partial); err != nil {
			refuse("ProcessingFailedError", err.Error(), true)
			return
		}
	}
	defer func() { _ = before.Close() }()
	got, err := g.saveMediaData(io.MultiReader(before, partialReader{r.Body}), c, "")
	if err != nil {
		refuse("ProcessingFailedError", err.Error(), true)
		return
	}
	created.Partial, created.Received = got.ID, got.Bytes
	if whole := got.Bytes == size; whole {
		created.Upload, created.Media = false, []Media{got.Media}
		if problem := instagramProblem(got, created.Type); problem != nil {
			created.Due.Failed = true
		}
	}
	g.mu.Lock()
	// The bytes of a broken upload can arrive after the next upload has started:
	// only one of the two may continue.
	now, _, _ := g.container(id, c)
	current := now.Upload && now.Received == offset
	if current {
		err = g.putObject(t, created)
	}
	g.mu.Unlock()
	switch {
	case !current:
		refuse("OffsetInvalidError", "Another upload continued from this offset", false)
	case err != nil:
		refuse("ProcessingFailedError", err.Error(), true)
	case created.Upload:
		refuse("PartialRequestError", "Partial request (did not match length of file)", true)
	default:
		writeJSON(w, http.StatusOK, map[string]any{"success": true, "message": "Upload successful."})
	}
}

// partialReader ends where a request breaks off.
type partialReader struct{ io.Reader }

func (b partialReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
