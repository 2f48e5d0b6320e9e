package fake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/article"
)

// ghostTime is the format of dates: whole seconds.
const ghostTime = "2006-01-02T15:04:05.000Z"

// ghostPost is a post of any status, published or not.
type ghostPost struct {
	ID         string     `json:"id"`
	Status     string     `json:"status"`
	Slug       string     `json:"slug"`
	URL        string     `json:"url"`
	Title      string     `json:"title"`
	HTML       string     `json:"html"`
	Excerpt    *string    `json:"custom_excerpt"`
	Image      *string    `json:"feature_image"`
	ImageAlt   *string    `json:"feature_image_alt"`
	MetaTitle  *string    `json:"meta_title"`
	Canonical  *string    `json:"canonical_url"`
	Visibility string     `json:"visibility"`
	Featured   bool       `json:"featured"`
	Tags       []ghostRef `json:"tags"`
	Authors    []ghostRef `json:"authors"`
	Published  *string    `json:"published_at"`
	Updated    string     `json:"updated_at"`
	Before     string     `json:"before,omitempty"` // updated_at before it was published
	Gone       bool       `json:"gone,omitempty"`
}

// ghostKind is also the kind of objects, and the name in bodies.
const ghostKind = "posts"

func ghostPostKey(c caller, id string) string { return "ghost/posts/" + c.account.ID + "/" + id }

// ghostFind returns a post by its id or slug. The caller must hold s.mu.
func (s ghostFake) ghostFind(c caller, matches func(ghostPost) bool) (ghostPost, bool) {
	for key := range s.state.objects {
		var p ghostPost
		if _, ok := s.object(ghostName, ghostKind, key, &p); !ok || !strings.HasPrefix(key, ghostPostKey(c, "")) {
			continue
		}
		if there := s.state.postByID[p.ID]; !p.Gone && (there == nil || !there.Deleted) && matches(p) {
			return p, true
		}
	}
	return ghostPost{}, false
}

func (s ghostFake) ghostByID(c caller, id string) (ghostPost, bool) {
	return s.ghostFind(c, func(p ghostPost) bool { return p.ID == id })
}

func (s ghostFake) ghostStore(c caller, p ghostPost) error {
	return s.ghostPut(c, ghostPostKey(c, p.ID), ghostKind, p)
}

func ghostMissing(w http.ResponseWriter) {
	ghostError(w, http.StatusNotFound, "NotFoundError", "", "Resource not found error, cannot read post.")
}

// ghostWrite creates or changes a post. The check of updated_at is that of Ghost: whole
// seconds, and only some fields.
func (s ghostFake) ghostWrite(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	before, found := s.ghostByID(c, id)
	p := before
	if id != "" && !found {
		ghostMissing(w)
		return
	}
	if id == "" {
		n, _ := strconv.ParseUint(s.state.nextID(s.now()), 10, 64)
		p = ghostPost{ID: ghostID(n), Status: "draft", Visibility: "public", Authors: ghostUsers()[:1]}
	}
	known := p
	var in struct{ Posts []json.RawMessage }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20)).Decode(&in)
	p.Tags, p.Authors = nil, nil
	if err != nil || len(in.Posts) != 1 || json.Unmarshal(in.Posts[0], &p) != nil {
		ghostError(w, http.StatusBadRequest, "InternalServerError", "", "Invalid body")
		return
	}
	if p.Tags == nil {
		p.Tags = known.Tags
	}
	if p.Authors == nil {
		p.Authors = known.Authors
	}
	sent := p.Updated
	p.ID, p.Before, p.Gone, p.Published, p.Updated = known.ID, known.Before, false, known.Published, known.Updated
	if r.URL.Query().Get("source") != "html" {
		p.HTML = known.HTML
	}
	if text := ghostInvalid(p); text != "" {
		ghostError(w, http.StatusUnprocessableEntity, "ValidationError", "", text)
		return
	}
	checked := func(p ghostPost) string {
		return strings.Join([]string{p.Status, p.Slug, p.Title, p.HTML, p.Visibility}, "\x00")
	}
	if found && sent != before.Updated && checked(p) != checked(before) {
		ghostError(w, http.StatusConflict, "UpdateCollisionError", "UPDATE_COLLISION",
			"Saving failed! Someone else is editing this post.")
		return
	}
	if text := s.ghostResolve(c, &p); text != "" {
		ghostError(w, http.StatusUnprocessableEntity, "ValidationError", "", text)
		return
	}
	s.ghostSettle(r, c, &p, before)
	if ghostFailed(w, s.ghostPublish(r, c, p, before)) {
		return
	}
	status := http.StatusOK
	if !found {
		status = http.StatusCreated
	}
	writeJSON(w, status, map[string]any{ghostKind: []any{s.ghostEntity(p)}})
}

// ghostInvalid returns what is wrong with a post.
func ghostInvalid(p ghostPost) string {
	for _, limit := range []struct {
		name  string
		value *string
		max   int
	}{
		{"title", &p.Title, 255},
		{"slug", &p.Slug, 191},
		{"custom_excerpt", p.Excerpt, 300},
		{"feature_image_alt", p.ImageAlt, 191},
		{"meta_title", p.MetaTitle, 300},
	} {
		if limit.value != nil && len([]rune(*limit.value)) > limit.max {
			return fmt.Sprintf("Value in [posts.%s] exceeds maximum length of %d characters.", limit.name, limit.max)
		}
	}
	if p.Title == "" {
		return "Value in [posts.title] cannot be blank."
	}
	return ""
}

// ghostResolve finds tags and authors. A tag that is named is found without case and accents,
// and renamed to what was sent; unknown authors become the owner. The caller must hold s.mu.
func (s ghostFake) ghostResolve(c caller, p *ghostPost) string {
	list := s.ghostSiteTags(c)
	for i, t := range p.Tags {
		at := slices.IndexFunc(list, func(known ghostRef) bool {
			return t.ID != "" && known.ID == t.ID || t.Slug != "" && known.Slug == t.Slug ||
				t.Name != "" && t.ID == "" && ghostCollates(known.Name, t.Name)
		})
		switch {
		case at < 0 && t.Name == "":
			return "Value in [tags.name] cannot be blank."
		case at < 0:
			list = ghostAddTag(list, t.Name)
			at = len(list) - 1
		case t.Name != "":
			list[at].Name = t.Name
		}
		p.Tags[i] = list[at]
	}
	if err := s.ghostPutTags(c, list); err != nil {
		return err.Error()
	}
	for i, a := range p.Authors {
		at := slices.IndexFunc(ghostUsers(), func(u ghostRef) bool { return u.ID == a.ID || u.Email == a.Email })
		p.Authors[i] = ghostUsers()[max(at, 0)]
	}
	return ""
}

// ghostSettle sets the slug and the times. The caller must hold s.mu.
func (s ghostFake) ghostSettle(r *http.Request, c caller, p *ghostPost, before ghostPost) {
	if p.Slug = article.Words(cmp.Or(p.Slug, p.Title)); p.Slug != before.Slug {
		wanted := p.Slug
		for n := 2; ; n++ {
			if _, taken := s.ghostFind(c, func(o ghostPost) bool { return o.Slug == p.Slug && o.ID != p.ID }); !taken {
				break
			}
			p.Slug = wanted + "-" + strconv.Itoa(n)
		}
	}
	now := s.now().Add(conditionsOf(r).skew)
	if p.Status == "published" && before.Status != p.Status {
		at := now.Format(ghostTime)
		p.Published, p.Before = &at, before.Updated
	}
	p.URL = s.ghostSite(r) + "/" + p.Slug + "/"
	if before.ID != "" && before.Status == p.Status && p.Status == "published" {
		return // repeated
	}
	p.Updated = now.Truncate(time.Second).Format(ghostTime)
	if before.ID != "" && p.Updated == before.Updated {
		p.Updated = now.Truncate(time.Second).Add(time.Second).Format(ghostTime) // fakes are faster than a second
	}
}

// ghostPublish stores a post, and publishes it if its status became published. The caller
// must hold s.mu.
func (s ghostFake) ghostPublish(r *http.Request, c caller, p, before ghostPost) error {
	if p.Status == "published" && before.Status != p.Status {
		post := Post{
			ID: p.ID, Network: ghostName, AccountID: c.account.ID, Account: c.account.Name,
			Text:       strings.TrimSpace(p.Title + "\n\n" + article.PlainText(p.HTML)),
			Visibility: p.Visibility, ReceivedAt: s.now(), URL: p.URL, Media: s.ghostFiles(p),
			Options: map[string]any{"title": p.Title},
		}
		names := func(list []ghostRef) (names []string) {
			for _, r := range list {
				names = append(names, r.Name)
			}
			return names
		}
		for name, o := range map[string]struct {
			value any
			asked bool
		}{
			"custom_excerpt": {p.Excerpt, p.Excerpt != nil}, "canonical_url": {p.Canonical, p.Canonical != nil},
			"tags":          {names(p.Tags), len(p.Tags) > 0},
			"authors":       {names(p.Authors), p.Authors[0].ID != ghostUsers()[0].ID},
			"feature_image": {true, p.Image != nil}, "featured": {true, p.Featured},
			"visibility": {p.Visibility, p.Visibility != "public"},
		} {
			if o.asked {
				post.Options[name] = o.value
			}
		}
		if err := s.storePost(r, &post); err != nil {
			return err
		}
	}
	return s.ghostStore(c, p)
}

// ghostFiles returns the images of a post with their descriptions. The caller must hold s.mu.
func (s ghostFake) ghostFiles(p ghostPost) []Media {
	above := ""
	if p.Image != nil {
		above = path.Base(*p.Image)
	}
	files := s.filesOf(above, p.HTML)
	for i, m := range files {
		if m.ID == above && p.ImageAlt != nil {
			files[i].Description = *p.ImageAlt
		} else if alt := regexp.MustCompile(`/media/` + m.ID + `" alt="([^"]*)"`).
			FindStringSubmatch(p.HTML); alt != nil {
			files[i].Description = html.UnescapeString(alt[1])
		}
	}
	return files
}

// ghostEntity returns a post as the faults of its publishing left it. The caller must hold
// s.mu.
func (s ghostFake) ghostEntity(p ghostPost) ghostPost {
	p.Before = ""
	there := s.state.postByID[p.ID]
	if there == nil {
		return p
	}
	for _, m := range s.ghostFiles(p) {
		if there.lacks(m) {
			if p.Image != nil && path.Base(*p.Image) == m.ID {
				p.Image = nil
			}
			p.HTML = strings.ReplaceAll(p.HTML, "/media/"+m.ID+`"`, `/gone"`)
		}
	}
	p.Visibility = there.Visibility
	p.Title, p.HTML = there.listedArticle(p.Title, p.HTML)
	return p
}

// ghostRead returns a post by its id or slug, or an empty page of posts.
func (s ghostFake) ghostRead(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, slug := r.PathValue("id"), r.PathValue("slug")
	if id == "" && slug == "" {
		writeJSON(w, http.StatusOK, map[string]any{ghostKind: []any{}})
		return
	}
	p, found := s.ghostFind(c, func(p ghostPost) bool { return p.ID == id || slug != "" && p.Slug == slug })
	if !found {
		ghostMissing(w)
		return
	}
	shown := s.ghostEntity(p)
	if there := s.state.postByID[p.ID]; there != nil && s.now().Before(there.HiddenUntil) {
		shown.Status, shown.Updated, shown.Published = "draft", p.Before, nil // in a cache of the site
	}
	writeJSON(w, http.StatusOK, map[string]any{ghostKind: []any{shown}})
}

// ghostDelete deletes a post for good.
func (s ghostFake) ghostDelete(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.ghostByID(c, r.PathValue("id"))
	if !found {
		ghostMissing(w)
		return
	}
	p.Gone = true
	err := s.ghostStore(c, p)
	if s.state.postByID[p.ID] != nil && err == nil {
		err = s.commit(record{Kind: kindDelete, ID: p.ID})
	}
	if !ghostFailed(w, err) {
		w.WriteHeader(http.StatusNoContent)
	}
}

// ghostUpload stores an image, which is never deleted.
func (s ghostFake) ghostUpload(w http.ResponseWriter, r *http.Request, c caller) {
	file, header, err := r.FormFile("file")
	if err != nil || strings.Trim(header.Filename, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		ghostError(w, http.StatusUnprocessableEntity, "ValidationError", "", "Please select an image.")
		return
	}
	data, err := io.ReadAll(file)
	m := Media{AccountID: c.account.ID}
	m.MIMEType, _, _ = strings.Cut(http.DetectContentType(data), ";")
	s.scheduleMedia(r, &m)
	m.ExpiresAt = time.Time{}
	if err != nil || m.Failed ||
		!slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, m.MIMEType) {
		ghostError(w, http.StatusUnsupportedMediaType, "UnsupportedMediaTypeError", "", "Please select a valid image.")
		return
	}
	s.mu.Lock()
	m.ID = s.state.nextID(s.now())
	s.mu.Unlock()
	m.Bytes, err = s.saveMedia(m.ID, bytes.NewReader(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.commit(record{Kind: kindMedia, Media: &m})
	}
	if ghostFailed(w, err) {
		return
	}
	writeJSON(w, http.StatusCreated, map[string]any{"images": []any{
		map[string]string{"url": base(r) + "/media/" + m.ID, "ref": r.FormValue("ref")},
	}})
}
