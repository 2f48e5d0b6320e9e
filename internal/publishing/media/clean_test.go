package media_test

import (
	"bytes"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/media/metadata"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
	"dateline/platforms/call"
)

// ingest stores a file by every way of uploading.
func ingest(t *testing.T, n *newsroomtest.Newsroom, name string, content []byte) map[string]media.Item {
	t.Helper()
	items := map[string]media.Item{}
	var err error
	items["uploaded"], err = n.Media.Upload(t.Context(), n.Owner, name, "", bytes.NewReader(content))
	n.Must(err)

	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content)
	}))
	defer site.Close()
	n.Media.Web, err = call.NewClient([]string{strings.TrimPrefix(site.URL, "http://")})
	n.Must(err)
	items["fetched"], _, err = n.Media.Fetch(t.Context(), n.Owner, site.URL+"/"+name, "", "")
	n.Must(err)

	ticket, err := n.Media.StartUpload(t.Context(), n.Owner, media.UploadRequest{
		FileName: name, Bytes: int64(len(content)), SHA256: hexSum(content),
	})
	n.Must(err)
	if ticket.Single != nil {
		send(t, *ticket.Single, content)
	}
	for at, p := 0, 0; p < len(ticket.Parts); p++ {
		send(t, ticket.Parts[p].SignedRequest, content[at:at+int(ticket.Parts[p].Bytes)])
		at += int(ticket.Parts[p].Bytes)
	}
	items["sent to the bucket"], err = n.Media.CompleteUpload(t.Context(), n.Owner, ticket.ID)
	n.Must(err)
	return items
}

func TestIngest_RemovesMetadata(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Media.MaxBytes = 64 << 20
	long := slices.Concat(mediatest.TaggedMovie(true), make([]byte, 7<<20)) // more notes of the camera
	for name, content := range map[string][]byte{
		"a.jpg": mediatest.JPEG(64, 48, 1), "b.png": mediatest.PNG(64, 48, 1), "c.webp": mediatest.WebP(1),
		"d.gif": mediatest.GIF(),
		"e.mp4": mediatest.TaggedMovie(false), "f.webm": mediatest.TaggedWebM(false), "in parts.mp4": long,
	} {
		n.Media.MultipartThreshold, n.Media.PartBytes = 6<<20, 5<<20
		for way, item := range ingest(t, n, name, content) {
			stored := read(t, n, item)
			for _, secret := range append(mediatest.Secrets(), mediatest.Credits()...) {
				if bytes.Contains(stored, secret) {
					t.Errorf("%s, %s: the stored object contains %q", name, way, secret)
				}
			}
			if !item.LocationRemoved() {
				t.Errorf("%s, %s: %v is removed, want the location in it", name, way, item.MetadataRemoved)
			}
			if item.Bytes != int64(len(stored)) || hexSum(stored) != hexSum(read(t, n, item)) ||
				item.ObjectKey != "media/"+hexSum(stored)[:2]+"/"+hexSum(stored) {
				t.Errorf("%s, %s: %+v does not describe the stored object", name, way, item)
			}
			if again, err := n.Media.Get(t.Context(), n.Owner, item.ID); err != nil ||
				!slices.Equal(again.MetadataRemoved, item.MetadataRemoved) {
				t.Errorf("%s, %s: later %v %v, want %v", name, way, again.MetadataRemoved, err, item.MetadataRemoved)
			}
		}
	}
}

func TestIngest_TurnsPixelsUpright(t *testing.T) {
	n := newsroomtest.Open(t)
	corners := map[int][2]int{
		1: {5, 5}, 2: {94, 5}, 3: {94, 74}, 4: {5, 74}, 5: {5, 5}, 6: {74, 5}, 7: {74, 94},
		8: {5, 94},
	}
	for orientation, corner := range corners {
		for name, content := range map[string][]byte{
			"a.jpg": mediatest.JPEG(100, 80, orientation),
			"b.png": mediatest.PNG(100, 80, orientation), "odd.jpg": mediatest.JPEG(99, 79, orientation),
		} {
			item, err := n.Media.Upload(t.Context(), n.Owner, name, "", bytes.NewReader(content))
			n.Must(err)
			stored := read(t, n, item)
			decode := jpeg.Decode
			if item.MIMEType == "image/png" {
				decode = png.Decode
			}
			img, err := decode(bytes.NewReader(stored))
			n.Must(err)
			if b := img.Bounds(); b.Dx() != item.Width || b.Dy() != item.Height ||
				(orientation >= 5) != (b.Dy() > b.Dx()) || item.Orientation != 1 {
				t.Errorf("%s, orientation %d: %v and %d × %d", name, orientation, b, item.Width, item.Height)
			}
			red, _ := color.RGBAModel.Convert(img.At(corner[0]-1, corner[1]-1)).(color.RGBA)
			if name != "odd.jpg" && (red.R < 200 || red.G > 60 || red.B > 60) {
				t.Errorf("%s, orientation %d: the red corner is not at %v: %v", name, orientation, corner, red)
			}
			if item.MIMEType == "image/jpeg" && !bytes.Contains(stored, mediatest.Profile()) {
				t.Errorf("%s, orientation %d: the color profile is gone", name, orientation)
			}
			if item.MIMEType == "image/png" && !bytes.Contains(stored, []byte("gAMA")) {
				t.Errorf("%s, orientation %d: the gamma is gone", name, orientation)
			}
		}
	}
	// Its pixels cannot be rotated here; the orientation that viewers need stays.
	item, err := n.Media.Upload(t.Context(), n.Owner, "c.webp", "", bytes.NewReader(mediatest.WebP(6)))
	n.Must(err)
	if stored := read(t, n, item); item.Orientation != 6 || !bytes.Contains(stored, []byte("EXIF")) ||
		bytes.Contains(stored, []byte(mediatest.Camera)) {
		t.Errorf("the WebP has the orientation %d, want 6 and nothing else", item.Orientation)
	}
}

func TestIngest_LeavesFilesWithoutMetadataAlone(t *testing.T) {
	n := newsroomtest.Open(t)
	for name, content := range map[string][]byte{
		"a.jpg": mediatest.PlainJPEG(64, 48), "b.mp4": mediatest.Movie{
			Width: 640, Height: 360, Seconds: 2,
			Frames: 1000,
		}.Bytes(),
	} {
		for way, item := range ingest(t, n, name, content) {
			if !bytes.Equal(read(t, n, item), content) || len(item.MetadataRemoved) > 0 {
				t.Errorf("%s, %s: other bytes are stored, without %v", name, way, item.MetadataRemoved)
			}
		}
	}
}

func TestIngest_KeepsTheCreditWhenTheWorkspaceDoes(t *testing.T) {
	n := newsroomtest.Open(t)
	yes := true
	_, err := n.People.ChangeWorkspace(t.Context(), n.Owner, workspace.Change{KeepMediaCredit: &yes})
	n.Must(err)
	for name, content := range map[string][]byte{
		"upright.jpg": mediatest.JPEG(64, 48, 1),
		"turned.jpg":  mediatest.JPEG(64, 48, 8), "turned.png": mediatest.PNG(64, 48, 8),
	} {
		item, err := n.Media.Upload(t.Context(), n.Owner, name, "", bytes.NewReader(content))
		n.Must(err)
		stored := read(t, n, item)
		for _, credit := range mediatest.Credits() {
			if !bytes.Contains(stored, credit) {
				t.Errorf("%s: %q is not in the stored object", name, credit)
			}
		}
		for _, secret := range mediatest.Secrets() {
			if bytes.Contains(stored, secret) {
				t.Errorf("%s: the stored object contains %q", name, secret)
			}
		}
		if slices.Contains(item.MetadataRemoved, metadata.Author) || !item.LocationRemoved() {
			t.Errorf("%s: %v is removed, want the location and not the author", name, item.MetadataRemoved)
		}
	}
}

// A repetition with the same key is the same request, even if the workspace changed the
// setting meanwhile.
func TestIngest_ReplaysAcrossAChangeOfTheSetting(t *testing.T) {
	n := newsroomtest.Open(t)
	in := func() media.NewFile {
		return media.NewFile{
			FileName: "a.jpg", Body: bytes.NewReader(mediatest.JPEG(64, 48, 1)),
			IdempotencyKey: "once",
		}
	}
	first, _, err := n.Media.Save(t.Context(), n.Owner, in())
	n.Must(err)
	yes := true
	_, err = n.People.ChangeWorkspace(t.Context(), n.Owner, workspace.Change{KeepMediaCredit: &yes})
	n.Must(err)
	second, replayed, err := n.Media.Save(t.Context(), n.Owner, in())
	if err != nil || !replayed || second.ID != first.ID {
		t.Errorf("got %v, replayed %v, %v; want %v again", second.ID, replayed, err, first.ID)
	}
}
