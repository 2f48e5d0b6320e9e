package fake

import (
	"bytes"
	"cmp"
	"crypto/md5" //nolint:gosec // the checksum of Content-MD5
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/article"
)

// wordpressTime is the format of dates: UTC, in whole seconds.
const wordpressTime = "2006-01-02T15:04:05"

// wordpressPost is a post of any status, published or not.
type wordpressPost struct {
	ID         uint64  `json:"id"`
	Status     string  `json:"status"`
	Slug       string  `json:"slug"`
	Title      string  `json:"title"`
	Content    string  `json:"content"`
	Excerpt    string  `json:"excerpt"`
	Featured   uint64  `json:"featured_media"`
	Categories []int64 `json:"categories"`
	Tags       []int64 `json:"tags"`
	Comments   string  `json:"comment_status"`
	Format     string  `json:"format"`
	Sticky     bool    `json:"sticky"`
	Date       string  `json:"date_gmt"`
	Modified   string  `json:"modified_gmt"`
	Before     string  `json:"before"` // modified_gmt before it was published
}

// wordpressSlug is sanitize_title, for letters that Vietnamese and English have.
func wordpressSlug(text string) string { return article.Words(text) }

func wordpressKey(id string) string { return "wordpress/posts/" + id }

// wordpressFind returns a post. The caller must hold s.mu.
func (s wordpressFake) wordpressFind(id string) (p wordpressPost, ok bool) {
	_, ok = s.object(wordpressName, "posts", wordpressKey(id), &p)
	if there := s.state.postByID[id]; ok && there != nil && there.Deleted {
		p.Status, p.Slug = "trash", strings.TrimSuffix(p.Slug, "__trashed")+"__trashed"
	}
	return p, ok
}

// wordpressAll returns the posts of every status, the oldest first. The caller must hold s.mu.
func (s wordpressFake) wordpressAll() []wordpressPost {
	var all []wordpressPost
	for key := range s.state.objects {
		if id, ok := strings.CutPrefix(key, wordpressKey("")); ok {
			p, _ := s.wordpressFind(id)
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b wordpressPost) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// wordpressWrite creates or changes a post. There is no check of versions.
func (s wordpressFake) wordpressWrite(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.wordpressFind(r.PathValue("id"))
	before := p
	switch created := r.PathValue("id") == ""; {
	case c.isAnonymous():
		c.forbid(w, map[bool]string{true: "rest_cannot_create", false: "rest_cannot_edit"}[created])
		return
	case !created && !found:
		wordpressError(w, http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.", nil)
		return
	case created:
		p = wordpressPost{Status: "draft", Comments: "open", Format: "standard"}
		p.ID, _ = strconv.ParseUint(s.state.nextID(s.now()), 10, 64)
	}
	body := http.MaxBytesReader(w, r.Body, 4<<20)
	if err := json.NewDecoder(body).Decode(&p); err != nil {
		wordpressError(w, http.StatusBadRequest, "rest_invalid_json", "Invalid JSON body passed.", nil)
		return
	}
	if p.Title = strings.TrimSpace(p.Title); p.Title == "" && p.Content == "" && p.Excerpt == "" {
		wordpressError(w, http.StatusBadRequest, "empty_content", "Content, title, and excerpt are empty.", nil)
		return
	}
	if p.Status == "publish" && !c.canPublish() {
		c.forbid(w, "rest_cannot_publish")
		return
	}
	s.wordpressSettle(&p, before)
	if wordpressFailed(w, s.wordpressStore(r, c, p, before)) {
		return
	}
	status := http.StatusOK
	if !found {
		status = http.StatusCreated
		w.Header().Set("Location", fmt.Sprintf("%s%s/%d", base(r), r.URL.Path, p.ID))
	}
	writeJSON(w, status, s.wordpressEntity(r, p))
}

// wordpressSettle changes what was asked for as WordPress does, without an error.
func (s wordpressFake) wordpressSettle(p *wordpressPost, before wordpressPost) {
	now := s.now()
	if before.Status == "future" && p.Status == "publish" && p.Date == before.Date {
		p.Status = "future" // until its date
	}
	// A date that is less than a minute ahead is now.
	if date, err := time.Parse(wordpressTime, p.Date); err == nil && date.After(now.Add(time.Minute)) &&
		(p.Status == "publish" || p.Status == "future") {
		p.Status = "future"
	} else if p.Status == "future" {
		p.Status = "publish"
	}
	if p.Status == "publish" || p.Status == "private" {
		p.Slug = strings.TrimSuffix(p.Slug, "__trashed")
		p.Date = cmp.Or(p.Date, now.Format(wordpressTime))
	}
	if p.Slug = wordpressSlug(cmp.Or(p.Slug, p.Title)); p.Slug != before.Slug {
		p.Slug = s.wordpressUnique(p.Slug, p.ID)
	}
	// Unknown terms and files are left out.
	terms := func(kind string, ids []int64) []int64 {
		known := s.wordpressTermsOf(kind)
		return slices.DeleteFunc(ids, func(id int64) bool {
			return !slices.ContainsFunc(known, func(t wordpressTerm) bool { return t.ID == id })
		})
	}
	p.Tags, p.Categories = terms("tags", p.Tags), terms("categories", p.Categories)
	if len(p.Categories) == 0 {
		p.Categories = []int64{1}
	}
	p.Modified = now.Format(wordpressTime)
	if before.ID != 0 && before.Status == p.Status && p.Modified == before.Modified {
		p.Modified = now.Add(time.Second).Format(wordpressTime) // fakes are faster than a second
	}
}

// wordpressUnique returns a slug that no other post has. The caller must hold s.mu.
func (s wordpressFake) wordpressUnique(slug string, id uint64) string {
	all, unique := s.wordpressAll(), slug
	for n := 2; slices.ContainsFunc(all, func(o wordpressPost) bool { return o.Slug == unique && o.ID != id }); n++ {
		unique = slug + "-" + strconv.Itoa(n)
	}
	return unique
}

// wordpressStore stores a post, and publishes it if its status became public: also from the
// trash. The caller must hold s.mu.
func (s wordpressFake) wordpressStore(r *http.Request, c caller, p, before wordpressPost) error {
	id := strconv.FormatUint(p.ID, 10)
	isPublic := func(status string) bool { return status == "publish" || status == "private" }
	if isPublic(p.Status) && !isPublic(before.Status) {
		p.Before = before.Modified
		post := Post{
			ID: id, Network: wordpressName, AccountID: c.account.ID, Account: c.account.Name,
			Text:       strings.TrimSpace(html.UnescapeString(p.Title) + "\n\n" + article.PlainText(p.Content)),
			Visibility: map[bool]string{true: "public", false: "private"}[p.Status == "publish"], ReceivedAt: s.now(),
			URL:     s.networkNamed(wordpressName).root(r) + "/" + p.Slug + "/",
			Media:   s.filesOf(strconv.FormatUint(p.Featured, 10), p.Content),
			Options: map[string]any{"title": html.UnescapeString(p.Title)},
		}
		for name, o := range map[string]struct {
			value any
			asked bool
		}{
			"excerpt":    {html.UnescapeString(p.Excerpt), p.Excerpt != ""},
			"categories": {p.Categories, !slices.Equal(p.Categories, []int64{1})},
			"tags":       {p.Tags, len(p.Tags) > 0}, "featured": {true, p.Featured != 0}, "sticky": {true, p.Sticky},
			"comment_status": {p.Comments, p.Comments != "open"}, "format": {p.Format, p.Format != "standard"},
			"status": {p.Status, p.Status == "private"},
		} {
			if o.asked {
				post.Options[name] = o.value
			}
		}
		if err := s.storePost(r, &post); err != nil {
			return err
		}
	}
	return s.putObject(Object{
		ID: wordpressKey(id), Network: wordpressName, Kind: "posts", AccountID: c.account.ID, CreatedAt: s.now(),
	}, p)
}

// wordpressEntity returns a post in the context edit, as the faults of its publishing left
// it. The caller must hold s.mu.
func (s wordpressFake) wordpressEntity(r *http.Request, p wordpressPost) map[string]any {
	id := strconv.FormatUint(p.ID, 10)
	title, content := p.Title, p.Content
	if there := s.state.postByID[id]; there != nil && !there.Deleted {
		if there.Visibility == "public" && p.Status == "private" {
			p.Status = "publish"
		}
		title, content = there.listedArticle(title, content)
		for _, m := range s.filesOf(strconv.FormatUint(p.Featured, 10), content) {
			if there.lacks(m) {
				if m.ID == strconv.FormatUint(p.Featured, 10) {
					p.Featured = 0
				}
				content = strings.ReplaceAll(content, "/media/"+m.ID+`"`, `/gone"`)
			}
		}
	}
	if !s.hasFile(s.state.media[strconv.FormatUint(p.Featured, 10)]) {
		p.Featured = 0
	}
	root := s.networkNamed(wordpressName).root(r)
	// kses of authors, which also removes tags
	title = strings.NewReplacer("&", "&amp;", "<", "&lt;", "'", "&#039;").Replace(
		html.UnescapeString(article.PlainText(title)))
	return map[string]any{
		"id": p.ID, "status": p.Status, "slug": p.Slug, "link": root + "/" + p.Slug + "/", "date_gmt": p.Date,
		"modified_gmt": p.Modified, "title": map[string]string{"raw": title},
		"content": map[string]string{"raw": content}, "excerpt": map[string]string{"raw": p.Excerpt},
		"featured_media": p.Featured, "categories": p.Categories, "tags": p.Tags, "comment_status": p.Comments,
		"format": p.Format, "sticky": p.Sticky,
	}
}

func (s wordpressFake) wordpressRead(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, found := s.wordpressFind(r.PathValue("id"))
	switch {
	case !found:
		wordpressError(w, http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.", nil)
	case c.isAnonymous():
		c.forbid(w, "rest_forbidden_context")
	default:
		if there := s.state.postByID[r.PathValue("id")]; there != nil && s.now().Before(there.HiddenUntil) {
			p.Status, p.Modified = "draft", p.Before // in a cache of the site
		}
		writeJSON(w, http.StatusOK, s.wordpressEntity(r, p))
	}
}

// wordpressList lists posts by slug. Anonymous calls see public posts only, and are refused
// in three ways if they ask for more.
func (s wordpressFake) wordpressList(w http.ResponseWriter, r *http.Request, c caller) {
	query := r.URL.Query()
	status := cmp.Or(query.Get("status"), "publish")
	if c.isAnonymous() && status != "publish" {
		wordpressError(w, http.StatusBadRequest, "rest_invalid_param", "Invalid parameter(s): status", map[string]any{
			"details": map[string]any{"status": map[string]any{
				"code": "rest_forbidden_status", "data": map[string]int{"status": http.StatusUnauthorized},
			}},
		})
		return
	}
	if c.isAnonymous() && query.Get("context") == "edit" {
		c.forbid(w, "rest_forbidden_context")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, p := range s.wordpressAll() {
		isTrash := p.Status == "trash"
		if slices.Contains(strings.Split(query.Get("slug"), ","), p.Slug) && (status == p.Status ||
			strings.Contains(status, "any") && !isTrash || strings.Contains(status, "trash") && isTrash) {
			list = append(list, s.wordpressEntity(r, p))
		}
	}
	writeJSON(w, http.StatusOK, list)
}

// wordpressDelete moves a post to the trash.
func (s wordpressFake) wordpressDelete(w http.ResponseWriter, r *http.Request, c caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	p, found := s.wordpressFind(id)
	switch {
	case !found:
		wordpressError(w, http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.", nil)
		return
	case c.isAnonymous():
		c.forbid(w, "rest_cannot_delete")
		return
	case p.Status == "trash":
		wordpressError(w, http.StatusGone, "rest_already_trashed", "The post has already been deleted.", nil)
		return
	}
	before := p
	p.Status, p.Slug = "trash", p.Slug+"__trashed"
	err := s.wordpressStore(r, c, p, before)
	if s.state.postByID[id] != nil && err == nil {
		err = s.commit(record{Kind: kindDelete, ID: id})
	}
	if wordpressFailed(w, err) {
		return
	}
	writeJSON(w, http.StatusOK, s.wordpressEntity(r, p))
}

// wordpressFile is an attachment.
type wordpressFile struct {
	ID   uint64 `json:"id"`
	Slug string `json:"slug"`
	URL  string `json:"source_url"`
}

// wordpressUpload stores a file that is the whole body. Refused files have status 500.
func (s wordpressFake) wordpressUpload(w http.ResponseWriter, r *http.Request, c caller) {
	if !c.canPublish() {
		c.forbid(w, "rest_cannot_create")
		return
	}
	_, disposition, err := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
	if err != nil || disposition["filename"] == "" {
		wordpressError(w, http.StatusBadRequest, "rest_upload_invalid_disposition", "No filename was given.", nil)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, videoLimit))
	if err != nil {
		wordpressError(w, http.StatusBadRequest, "rest_upload_no_data", "No data supplied.", nil)
		return
	}
	sum := md5.Sum(data) //nolint:gosec // Content-MD5
	if want := r.Header.Get("Content-MD5"); want != "" && want != hex.EncodeToString(sum[:]) {
		wordpressError(w, http.StatusPreconditionFailed, "rest_upload_hash_mismatch",
			"Content hash did not match expected.", nil)
		return
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	query := r.URL.Query()
	s.mu.Lock()
	m := Media{
		ID: s.state.nextID(s.now()), AccountID: c.account.ID, MIMEType: kind, Description: query.Get("alt_text"),
	}
	s.mu.Unlock()
	s.scheduleMedia(r, &m)
	if m.Failed || path.Ext(disposition["filename"]) == "" {
		wordpressError(w, http.StatusInternalServerError, "rest_upload_sideload_error",
			"Sorry, you are not allowed to upload this file type.", nil)
		return
	}
	if f := conditionsOf(r); f.mediaTTL == 0 && f.processingResult != MediaExpired {
		m.ExpiresAt = time.Time{} // WordPress keeps files
	}
	m.Bytes, err = s.saveMedia(m.ID, bytes.NewReader(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	made := wordpressFile{Slug: query.Get("slug"), URL: base(r) + "/media/" + m.ID}
	made.ID, _ = strconv.ParseUint(m.ID, 10, 64)
	if err == nil {
		err = s.commit(record{Kind: kindMedia, Media: &m})
	}
	if err == nil {
		err = s.putObject(Object{
			ID: "wordpress/media/" + m.ID, Network: wordpressName, Kind: "media", AccountID: c.account.ID,
			CreatedAt: s.now(),
		}, made)
	}
	if wordpressFailed(w, err) {
		return
	}
	w.Header().Set("Location", base(r)+r.URL.Path+"/"+m.ID)
	writeJSON(w, http.StatusCreated, made)
}

// wordpressMedia lists files by slug or id.
func (s wordpressFake) wordpressMedia(w http.ResponseWriter, r *http.Request, c caller) {
	if c.isAnonymous() {
		c.forbid(w, "rest_forbidden_context")
		return
	}
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []wordpressFile{}
	for id, m := range s.state.media {
		var file wordpressFile
		if _, ok := s.object(wordpressName, "media", "wordpress/media/"+id, &file); ok && s.hasFile(m) &&
			(file.Slug == query.Get("slug") || slices.Contains(strings.Split(query.Get("include"), ","), id)) {
			list = append(list, file)
		}
	}
	writeJSON(w, http.StatusOK, list)
}
