package wordpress

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	article.Draft

	ID       int64  `json:"id,omitempty"`
	Modified string `json:"modified,omitempty"` // of the draft as Dateline left it
	Named    bool   `json:"named,omitempty"`    // it has the slug of the options

	Categories []int64 `json:"categories,omitempty"`
	Tags       []int64 `json:"tags,omitempty"`
}

func parseHandle(text string) (h handle, ok bool) {
	return h, json.Unmarshal([]byte(text), &h) == nil && h.Slug != ""
}

const (
	maxSlugs    = 3 // X, and what WordPress makes of X if it exists
	trashSuffix = "__trashed"
)

// Prepare creates the draft that Publish makes public. It has a slug of its own, by which it
// is found again (article.Creator). Of several drafts the oldest is used.
func (w *WordPress) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	options, _ := submission.Options.(PostOptions)
	h, ok := parseHandle(submission.Handle)
	switch {
	case !ok:
		h.Draft = w.creator.Begin(article.SlugOf(options.Title, 190, submission))
		return article.Prepared(h, false, article.Shortly)
	case h.ID == 0:
		return w.settle(ctx, account, submission, h)
	case options.Slug == "" || h.Named:
		return article.Prepared(h, true, 0)
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
	return article.Prepared(h, true, 0)
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
	create, after, err := w.creator.Absent(&h.Draft)
	switch {
	case err != nil:
		return network.Prepared{}, err
	case create:
		return w.create(ctx, account, submission, h)
	default:
		return article.Prepared(h, false, after)
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
		return article.Prepared(&h, false, w.creator.Lost(&h.Draft))
	case e != nil:
		w.creator.Refused(h.Draft)
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
			return article.Prepared(&h, false, w.creator.Lost(&h.Draft))
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
		return network.Prepared{}, article.DeletedThere()
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
	h.Draft, h.ID, h.Modified = h.Settled(), first.ID, first.Modified
	options, _ := submission.Options.(PostOptions)
	h.Named = options.Slug == "" || first.Status != statusDraft
	return article.Prepared(h, h.Named, article.Shortly)
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
	if i := article.FirstImage(submission); i >= 0 {
		return parseAttachment(submission.MediaIDs[i]).ID
	}
	return 0
}

// articleOf returns the title and the body with the attachments that are not the featured
// image.
func articleOf(submission network.Submission, options PostOptions) article.Article {
	written := article.Of(options.Title, submission)
	above := featured(submission, options)
	for i, m := range submission.Media[:min(len(submission.Media), len(submission.MediaIDs))] {
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

// isRemoved reports whether a post was deleted for good.
func isRemoved(err error) bool {
	var e *network.Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound && e.Code == "rest_post_invalid_id"
}
