package bluesky

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	maxPage        = 4 << 20   // bytes of a page to read for its card
	maxHead        = 512 << 10 // bytes of it to parse
	maxThumb       = 1_000_000 // lexicon app.bsky.embed.external
	maxTitle       = 300       // characters
	maxDescription = 1000
)

// card is the link card of a post.
type card struct {
	URI         string    `json:"uri"`
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	Thumb       *blob     `json:"thumb,omitempty"`
	ThumbUntil  time.Time `json:"thumb_until,omitzero"`
}

type externalEmbed struct {
	Type     string `json:"$type"`
	External struct {
		URI         string `json:"uri"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Thumb       *blob  `json:"thumb,omitempty"`
	} `json:"external"`
}

// embed encodes the card as app.bsky.embed.external. An image that the server may
// have deleted by now is omitted, because it would fail the post.
func (c card) embed(now time.Time) externalEmbed {
	created := externalEmbed{Type: "app.bsky.embed.external"}
	created.External.URI, created.External.Title, created.External.Description = c.URI, c.Title, c.Description
	if now.Before(c.ThumbUntil) {
		created.External.Thumb = c.Thumb
	}
	return created
}

// card reads the linked page itself, as Bluesky's apps do when a post is written:
// its servers fetch nothing. If anything fails, the post is published without a
// card. A card without a title would only repeat the link, so there is none.
func (b *Bluesky) card(ctx context.Context, account network.Account, link string) *card {
	ctx, cancel := context.WithTimeout(ctx, 3*b.options.EnrichTimeout)
	defer cancel()
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodGet, URL: network.FetchURL(link),
		Timeout: b.options.EnrichTimeout,
		MaxBody: maxPage, Header: http.Header{"Accept": {"text/html, application/xhtml+xml"}},
	})
	if err != nil || !res.OK() {
		return nil
	}
	kind := res.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "text/html" &&
		media != "application/xhtml+xml" {
		return nil
	}
	page := readPage(res.Body, kind)
	if page.title == "" {
		return nil
	}
	created := &card{URI: link, Title: page.title, Description: page.description}
	if thumb, ok := b.thumb(ctx, account, link, page.image); ok {
		created.Thumb, created.ThumbUntil = &thumb, b.blobExpiry().UTC().Truncate(time.Second)
	}
	return created
}

// thumb copies a page's image to the account's server.
func (b *Bluesky) thumb(ctx context.Context, account network.Account, link, image string) (blob, bool) {
	base, err := url.Parse(network.FetchURL(link))
	if err != nil || image == "" {
		return blob{}, false
	}
	address, err := base.Parse(image)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" {
		return blob{}, false
	}
	res, err := b.calls.Do(ctx, call.Request{
		Method: http.MethodGet, URL: address.String(),
		Timeout: b.options.EnrichTimeout,
		MaxBody: maxThumb, Header: http.Header{"Accept": {"image/jpeg, image/png, image/webp"}},
	})
	if err != nil || !res.OK() {
		return blob{}, false
	}
	kind := http.DetectContentType(res.Body)
	if kind != "image/jpeg" && kind != "image/png" && kind != "image/webp" {
		return blob{}, false
	}
	created, _, err := b.uploadBlob(ctx, account,
		&call.Body{Type: kind, Length: int64(len(res.Body)), Reader: bytes.NewReader(res.Body)},
		b.options.EnrichTimeout)
	return created, err == nil
}

// pageMetadata is what a page declares about itself. https://ogp.me
type pageMetadata struct{ title, description, image string }

// readPage reads a page's Open Graph properties, otherwise its title and
// description.
func readPage(body []byte, contentType string) pageMetadata {
	reader, err := charset.NewReader(bytes.NewReader(body[:min(len(body), maxHead)]), contentType)
	if err != nil {
		return pageMetadata{}
	}
	reported := map[string]string{}
	tokens := html.NewTokenizer(reader)
	tokens.SetMaxBuf(maxHead)
	for inTitle := false; ; {
		switch tokens.Next() {
		case html.ErrorToken: // end of the page or of the part to parse
			return pageMetadata{
				title: truncate(firstNonEmpty(reported["og:title"], reported["title"]), maxTitle),
				description: truncate(firstNonEmpty(reported["og:description"], reported["description"]),
					maxDescription),
				image: firstNonEmpty(reported["og:image:secure_url"], reported["og:image"]),
			}
		case html.TextToken:
			if inTitle {
				setFirst(reported, "title", string(tokens.Text()))
			}
		case html.EndTagToken:
			inTitle = false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			switch atom.Lookup(name) {
			case atom.Title:
				inTitle = true
			case atom.Meta:
				property, content := metaOf(tokens, more)
				setFirst(reported, property, content)
			}
		}
	}
}

func metaOf(tokens *html.Tokenizer, more bool) (property, content string) {
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch string(key) {
		case "property", "name":
			if property == "" {
				property = strings.ToLower(strings.TrimSpace(string(value)))
			}
		case "content":
			content = string(value)
		}
	}
	return property, content
}

// setFirst sets a property unless the page has already declared it.
func setFirst(reported map[string]string, property, content string) {
	content = strings.Join(strings.Fields(strings.ToValidUTF8(content, "")), " ")
	if property != "" && content != "" && reported[property] == "" {
		reported[property] = content
	}
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func truncate(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}
