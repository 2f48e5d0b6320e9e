package wordpress

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The statuses of a post.
const (
	statusPublished = "publish"
	statusPrivate   = "private"
	statusDraft     = "draft"
	statusFuture    = "future"
	statusTrash     = "trash"
)

// wpPost contains the used fields of a post in the context edit.
// https://developer.wordpress.org/rest-api/reference/posts/#schema
type wpPost struct {
	ID         int64   `json:"id"`
	Status     string  `json:"status"`
	Slug       string  `json:"slug"`
	Link       string  `json:"link"`
	Date       string  `json:"date_gmt"`
	Modified   string  `json:"modified_gmt"`
	Title      rawText `json:"title"`
	Content    rawText `json:"content"`
	Excerpt    rawText `json:"excerpt"`
	Featured   int64   `json:"featured_media"`
	Categories []int64 `json:"categories"`
	Tags       []int64 `json:"tags"`
	Comments   string  `json:"comment_status"`
	Format     string  `json:"format"`
	Sticky     bool    `json:"sticky"`
}

type rawText struct {
	Raw string `json:"raw"`
}

// handle is Prepared.Handle: the draft of a post.
type handle struct {
	Slug string `json:"slug"` // by which the draft is found until its id is known
	// Nonce marks a draft for which no call was sent yet, if this process remembers it.
	Nonce string `json:"nonce,omitempty"`
	// Until is when a lost call that creates the draft can no longer act.
	Until    time.Time `json:"until,omitzero"`
	ID       int64     `json:"id,omitempty"`
	Modified string    `json:"modified,omitempty"` // of the draft as Dateline left it
	Named    bool      `json:"named,omitempty"`    // it has the slug of the options

	Categories []int64 `json:"categories,omitempty"`
	Tags       []int64 `json:"tags,omitempty"`
}

func parseHandle(text string) (h handle, ok bool) {
	return h, json.Unmarshal([]byte(text), &h) == nil && h.Slug != ""
}

func (h handle) prepared(ready bool, after time.Duration) (network.Prepared, error) {
	raw, err := json.Marshal(h)
	return network.Prepared{Handle: string(raw), Ready: ready, CheckAfter: after}, err
}

const (
	shortly     = time.Millisecond
	lookAgain   = 2 * time.Second
	maxSlugs    = 3 // X, and what WordPress makes of X if it exists
	trashSuffix = "__trashed"
)

// Prepare creates the draft that Publish makes public. WordPress has no keys, so that the
// draft has a slug of its own, by which it is found again: there are never two calls that
// create it at the same time, and after a lost one the draft is searched for until the call
// can no longer act. Of several drafts the oldest is used.
func (w *WordPress) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	options, _ := submission.Options.(PostOptions)
	h, ok := parseHandle(submission.Handle)
	switch {
	case !ok:
		// The handle is stored before anything is sent.
		h = handle{Slug: slugOf(submission, options), Nonce: rand.Text()}
		w.unsent.Store(h.Nonce, true)
		return h.prepared(false, shortly)
	case h.ID == 0:
		return w.settle(ctx, account, submission, h)
	case options.Slug == "" || h.Named:
		return h.prepared(true, 0)
	}
	// The draft's id is stored, so that its slug is no longer needed to find it.
	res, err := w.send(ctx, account, postPath(h.ID), false, map[string]string{
		"slug": options.Slug,
	})
	if err != nil {
		return network.Prepared{}, err
	}
	var now wpPost
	if err := decode(res, &now); err != nil {
		return network.Prepared{}, err
	}
	h.Named, h.Modified = true, now.Modified
	return h.prepared(true, 0)
}

// slugOf includes the attachments: after they were uploaded again, another draft has them.
func slugOf(submission network.Submission, options PostOptions) string {
	return article.Slug(articleOf(submission, options).Title, 190,
		append([]string{submission.Key}, submission.MediaIDs...)...)
}

// settle finds the draft, or creates it if no call for it can be unfinished.
func (w *WordPress) settle(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (network.Prepared, error) {
	found, err := w.drafts(ctx, account, h.Slug)
	if err != nil {
		return network.Prepared{}, err
	}
	if len(found) > 0 {
		return w.adopt(ctx, account, submission, h, found)
	}
	if _, unsent := w.unsent.LoadAndDelete(h.Nonce); unsent {
		return w.create(ctx, account, submission, h)
	}
	switch left := time.Until(h.Until); {
	case h.Until.IsZero(): // the process that sent it, or did not, is gone
		h.Until = time.Now().Add(w.options.Finish)
		return h.prepared(false, min(lookAgain, w.options.Finish))
	case left > 0:
		return h.prepared(false, min(lookAgain, left))
	default:
		return network.Prepared{}, &network.Error{
			Class: network.Transient, Code: network.CodeMediaExpired,
			Message: "WordPress did not create the draft. It is created again.",
		}
	}
}

// create sends the one call that creates the draft (POST posts). It sends no date: with one,
// WordPress may publish or schedule by itself.
func (w *WordPress) create(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (network.Prepared, error) {
	h, body, err := w.draft(ctx, account, submission, h)
	var res *call.Response
	if err == nil {
		res, err = w.send(ctx, account, "/wp/v2/posts", true, body)
	}
	switch e := network.AsError(err); {
	case e != nil && e.Class == network.Ambiguous:
		h.Until = time.Now().Add(w.options.Finish)
		return h.prepared(false, min(lookAgain, w.options.Finish))
	case e != nil:
		w.unsent.Store(h.Nonce, true) // it did not act
		return network.Prepared{}, e
	}
	var made wpPost
	if decode(res, &made) != nil || made.ID == 0 || made.Slug != h.Slug {
		// An earlier call acted as well, or PHP spoiled the body.
		found, err := w.drafts(ctx, account, h.Slug)
		if err == nil && len(found) > 0 {
			return w.adopt(ctx, account, submission, h, found)
		}
		if made.ID == 0 || err != nil {
			h.Until = time.Now().Add(w.options.Finish)
			return h.prepared(false, min(lookAgain, w.options.Finish))
		}
	}
	return w.adopt(ctx, account, submission, h, []wpPost{made}) // also if a plugin changed its slug
}

// drafts returns the posts with the slug, the oldest first. All statuses are named: without
// them, WordPress leaves drafts out; with them, it refuses a call that it treats as anonymous
// instead of answering that there are none.
func (w *WordPress) drafts(ctx context.Context, account network.Account, slug string) ([]wpPost, error) {
	slugs := []string{slug, slug + trashSuffix}
	for n := 2; n <= maxSlugs; n++ {
		slugs = append(slugs, fmt.Sprintf("%s-%d", slug, n))
	}
	res, err := w.do(ctx, account, "/wp/v2/posts", url.Values{
		"slug": {strings.Join(slugs, ",")}, "status": {"any,trash"}, "context": {"edit"}, "per_page": {"100"},
	}, call.Request{})
	if err != nil {
		return nil, err
	}
	var list []wpPost
	err = decode(res, &list)
	slices.SortFunc(list, func(a, b wpPost) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

// adopt makes the oldest draft the one to publish and moves the others to the trash.
func (w *WordPress) adopt(
	ctx context.Context, account network.Account, submission network.Submission, h handle, found []wpPost,
) (network.Prepared, error) {
	first := found[0]
	if first.Status == statusTrash {
		return network.Prepared{}, deletedThere()
	}
	if h.Categories == nil { // found, not created
		var err error
		if h, _, err = w.draft(ctx, account, submission, h); err != nil {
			return network.Prepared{}, err
		}
	}
	for _, other := range found[1:] {
		if other.Status == statusDraft {
			if err := w.Delete(ctx, account, idText(other.ID)); err != nil {
				return network.Prepared{}, err
			}
		}
	}
	h.ID, h.Modified, h.Nonce, h.Until = first.ID, first.Modified, "", time.Time{}
	options, _ := submission.Options.(PostOptions)
	h.Named = options.Slug == "" || first.Status != statusDraft
	return h.prepared(h.Named, shortly)
}

// draft returns the body of the call that creates the draft, and the handle with the ids of
// its categories and tags.
func (w *WordPress) draft(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (handle, map[string]any, error) {
	options, _ := submission.Options.(PostOptions)
	var err error
	if h.Categories, err = w.terms(ctx, account, categories, options.Categories); err != nil {
		return h, nil, err
	}
	if h.Tags, err = w.terms(ctx, account, tags, options.Tags); err != nil {
		return h, nil, err
	}
	written := articleOf(submission, options)
	body := map[string]any{
		"status": statusDraft, "slug": h.Slug, "title": escape(written.Title), "content": written.HTML,
		"tags": h.Tags, "featured_media": featured(submission, options),
	}
	for name, value := range map[string]string{
		"excerpt": escape(options.Excerpt), "comment_status": options.Comments, "format": options.Format,
	} {
		if value != "" {
			body[name] = value
		}
	}
	if len(h.Categories) > 0 { // otherwise the site's default
		body["categories"] = h.Categories
	}
	if options.Sticky {
		body["sticky"] = true
	}
	return h, body, nil
}

// escape returns a text as HTML, which titles and excerpts are to WordPress.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// featured returns the id of the featured image: the first image of the submission; 0: none.
func featured(submission network.Submission, options PostOptions) int64 {
	if options.FeaturedImage == featuredNone {
		return 0
	}
	for i, m := range submission.Media {
		if strings.HasPrefix(m.MIMEType, "image/") && i < len(submission.MediaIDs) {
			return parseAttachment(submission.MediaIDs[i]).ID
		}
	}
	return 0
}

// articleOf returns the title and the body with the attachments that are not the featured
// image. A post without a text is named after its first attachment, because WordPress needs
// a title or a body.
func articleOf(submission network.Submission, options PostOptions) article.Article {
	written := article.New(options.Title, submission.Text)
	above := featured(submission, options)
	for i, m := range submission.Media {
		if written.Title == "" {
			written.Title = cmp.Or(strings.TrimSpace(m.AltText), strings.TrimSuffix(m.FileName, path.Ext(m.FileName)))
		}
		if i >= len(submission.MediaIDs) {
			break
		}
		if file := parseAttachment(submission.MediaIDs[i]); file.ID != above {
			written.HTML = strings.TrimSpace(written.HTML + "\n" + file.html(m.MediaInfo, m.FileName))
		}
	}
	// Words in brackets, such as [gallery], could be shortcodes.
	written.HTML = strings.ReplaceAll(written.HTML, "[", "&#91;")
	return written
}

// html returns an attachment as the body shows it, with the classes of WordPress's blocks.
func (a attachment) html(media network.MediaInfo, name string) string {
	src, alt := html.EscapeString(a.URL), html.EscapeString(media.AltText)
	switch kind, _, _ := strings.Cut(media.MIMEType, "/"); kind {
	case "image":
		return fmt.Sprintf(`<figure class="wp-block-image"><img src="%s" alt="%s" class="wp-image-%d" /></figure>`,
			src, alt, a.ID)
	case "video":
		return `<figure class="wp-block-video"><video controls src="` + src + `"></video></figure>`
	case "audio":
		return `<figure class="wp-block-audio"><audio controls src="` + src + `"></audio></figure>`
	default:
		return `<p class="wp-block-file"><a href="` + src + `">` + html.EscapeString(name) + `</a></p>`
	}
}

func deletedThere() *network.Error {
	return rejected("", "deleted_there", "Somebody moved the article to the trash in WordPress, so it was not "+
		"published. Restore it there and try again, or discard it here.")
}

// isRemoved reports whether a post was deleted for good.
func isRemoved(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound && e.Code == "rest_post_invalid_id"
}
