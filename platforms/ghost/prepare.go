package ghost

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// The statuses of a post. Another one is sent, of posts that are emails only.
const (
	statusPublished = "published"
	statusDraft     = "draft"
	statusScheduled = "scheduled"
)

// post contains the used fields of a post. https://docs.ghost.org/admin-api/#posts
type post struct {
	ID         string      `json:"id"`
	Status     string      `json:"status"`
	Slug       string      `json:"slug"`
	URL        string      `json:"url"`
	Published  time.Time   `json:"published_at"`
	Updated    string      `json:"updated_at"`
	Title      string      `json:"title"`
	HTML       string      `json:"html"`
	Excerpt    string      `json:"custom_excerpt"`
	Image      string      `json:"feature_image"`
	Visibility string      `json:"visibility"`
	Featured   bool        `json:"featured"`
	Canonical  string      `json:"canonical_url"`
	Tags       []reference `json:"tags"`
	Authors    []reference `json:"authors"`
}

// handle is Prepared.Handle: the draft of a post.
type handle struct {
	article.Draft

	ID      string `json:"id,omitempty"`
	Updated string `json:"updated,omitempty"` // updated_at of the draft as Dateline left it
	Named   bool   `json:"named,omitempty"`   // it has the slug of the options

	Tags    []string `json:"tags,omitempty"`
	Authors []string `json:"authors,omitempty"`
}

func parseHandle(text string) (h handle, ok bool) {
	return h, json.Unmarshal([]byte(text), &h) == nil && h.Slug != ""
}

const maxSlug = 185 // with what Ghost adds to a slug that exists, below the 191 of its database

// Prepare creates the draft that Publish makes public. It has a slug of its own, by which it
// is found again (article.Creator): slugs are unique on a site.
func (g *Ghost) Prepare(
	ctx context.Context, account network.Account, submission network.Submission,
) (network.Prepared, error) {
	options, _ := submission.Options.(PostOptions)
	h, ok := parseHandle(submission.Handle)
	switch {
	case !ok:
		h.Draft = g.creator.Begin(article.SlugOf(options.Title, maxSlug, submission))
		return article.Prepared(h, false, article.Shortly)
	case h.ID == "":
		return g.settle(ctx, account, submission, h)
	case options.Slug == "" || h.Named:
		return article.Prepared(h, true, 0)
	}
	// The draft's id is stored, so that its slug is no longer needed to find it.
	now, _, err := write[post](ctx, g, account, postPath(h.ID), call.Request{Method: http.MethodPut}, posts,
		map[string]string{"slug": options.Slug, "updated_at": h.Updated})
	switch {
	case isRemoved(err):
		return network.Prepared{}, article.DeletedThere()
	case isCollision(err): // with an editor, or with an earlier call whose response was lost
		if now, err = g.read(ctx, account, h.ID); err == nil && !strings.HasPrefix(now.Slug, options.Slug) {
			err = article.EditedThere()
		}
	}
	if err != nil {
		return network.Prepared{}, err
	}
	h.Named, h.Updated = true, now.Updated
	return article.Prepared(h, true, 0)
}

// settle finds the draft, or creates it if no call for it can be unfinished.
func (g *Ghost) settle(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (network.Prepared, error) {
	found, err := g.find(ctx, account, h.Slug)
	switch {
	case err == nil:
		return g.adopt(ctx, account, submission, h, found)
	case !isRemoved(err):
		return network.Prepared{}, err
	}
	create, after, err := g.creator.Absent(&h.Draft)
	switch {
	case err != nil:
		return network.Prepared{}, err
	case create:
		return g.create(ctx, account, submission, h)
	default:
		return article.Prepared(h, false, after)
	}
}

// find returns the draft with a slug. Without one, the error is one of isRemoved.
func (g *Ghost) find(ctx context.Context, account network.Account, slug string) (post, error) {
	res, err := g.do(ctx, account, "/posts/slug/"+slug+"/", url.Values{"formats": {"html"}}, call.Request{})
	if err != nil {
		return post{}, err
	}
	return one[post](res, posts)
}

// create sends the one call that creates the draft (POST posts).
func (g *Ghost) create(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (network.Prepared, error) {
	h, body, err := g.draft(ctx, account, submission, h)
	var made post
	if err == nil {
		made, _, err = write[post](ctx, g, account, "/posts/", call.Request{
			Method: http.MethodPost, Create: true,
		}, posts, body)
	}
	switch e := network.AsError(err); {
	case e != nil && e.Class == network.Ambiguous:
		return article.Prepared(&h, false, g.creator.Lost(&h.Draft))
	case e != nil:
		g.creator.Refused(h.Draft)
		return network.Prepared{}, e
	}
	if made.Slug != h.Slug { // an earlier call acted as well, or a page of the site has the slug
		switch first, err := g.find(ctx, account, h.Slug); {
		case err == nil:
			if err := g.Delete(ctx, account, made.ID); err != nil {
				return network.Prepared{}, err
			}
			made = first
		case !isRemoved(err):
			return article.Prepared(&h, false, g.creator.Lost(&h.Draft))
		}
	}
	return g.adopt(ctx, account, submission, h, made)
}

// adopt makes a draft the one to publish.
func (g *Ghost) adopt(
	ctx context.Context, account network.Account, submission network.Submission, h handle, found post,
) (network.Prepared, error) {
	if h.Tags == nil { // found, not created
		var err error
		if h, _, err = g.draft(ctx, account, submission, h); err != nil {
			return network.Prepared{}, err
		}
	}
	options, _ := submission.Options.(PostOptions)
	h.Draft, h.ID, h.Updated = h.Settled(), found.ID, found.Updated
	h.Named = options.Slug == "" || found.Status != statusDraft
	return article.Prepared(h, h.Named, article.Shortly)
}

// draft returns the body of the call that creates the draft, and the handle with the ids of
// its tags and authors.
func (g *Ghost) draft(
	ctx context.Context, account network.Account, submission network.Submission, h handle,
) (handle, map[string]any, error) {
	options, _ := submission.Options.(PostOptions)
	var err error
	if h.Tags, err = g.tags(ctx, account, options.Tags); err != nil {
		return h, nil, err
	}
	if h.Authors, err = g.authors(ctx, account, options.Authors); err != nil {
		return h, nil, err
	}
	written := articleOf(submission, options)
	body := map[string]any{
		"status": statusDraft, "slug": h.Slug, "title": written.Title, "html": written.HTML,
		"featured": options.Featured,
	}
	if i := featured(submission, options); i >= 0 {
		body["feature_image"], body["feature_image_alt"] = submission.MediaIDs[i], submission.Media[i].AltText
	}
	for name, value := range map[string]string{
		"custom_excerpt": options.Excerpt, "visibility": options.Visibility, "canonical_url": options.CanonicalURL,
	} {
		if value != "" {
			body[name] = value
		}
	}
	// Tags by name would rename those of the site; unknown authors would become its owner.
	for name, ids := range map[string][]string{"tags": h.Tags, "authors": h.Authors} {
		list := []map[string]string{}
		for _, id := range ids {
			list = append(list, map[string]string{"id": id})
		}
		if len(list) > 0 {
			body[name] = list
		}
	}
	return h, body, nil
}

// featured returns the index of the image above the article; -1: none.
func featured(submission network.Submission, options PostOptions) int {
	if options.FeaturedImage == featuredNone {
		return -1
	}
	return article.FirstImage(submission)
}

// articleOf returns the title and the body, with the images that are not above the article.
func articleOf(submission network.Submission, options PostOptions) article.Article {
	written := article.Of(options.Title, submission)
	above := featured(submission, options)
	for i, address := range submission.MediaIDs[:min(len(submission.Media), len(submission.MediaIDs))] {
		if i != above {
			written.HTML = strings.TrimSpace(written.HTML + "\n" + `<figure><img src="` + html.EscapeString(address) +
				`" alt="` + html.EscapeString(submission.Media[i].AltText) + `"></figure>`)
		}
	}
	return written
}
