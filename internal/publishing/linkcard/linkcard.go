// Package linkcard fetches what networks show of a linked page: its title, its
// description and a small image.
package linkcard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // decoded where pages name one
	"image/jpeg"
	_ "image/png" // likewise
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/sync/singleflight"

	"dateline/platforms/network"
)

// Card is a linked page as networks show it. All fields but URL may be empty.
type Card struct {
	URL         string
	Title       string
	Description string
	Site        string
	Image       []byte // JPEG, at most maxWidth wide
}

const (
	timeout      = 8 * time.Second
	maxPage      = 1 << 20
	maxImage     = 8 << 20
	maxPixels    = 40_000_000
	maxWidth     = 600
	maxRedirects = 3
	maxText      = 300 // characters of title and description
	maxCached    = 300
	lifetime     = 15 * time.Minute
)

// Fetcher fetches and caches cards. Web must check the address of every connection, see
// internal/infra/ssrf.
type Fetcher struct {
	Web *http.Client

	flight singleflight.Group
	lock   sync.Mutex
	cache  map[string]cached
}

type cached struct {
	card  Card
	until time.Time
}

// Get fetches the card of a page. Of a page that cannot be read, only the
// address is known.
func (f *Fetcher) Get(ctx context.Context, address string) (Card, error) {
	u, err := url.Parse(network.FetchURL(address))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil {
		return Card{}, errors.New("the address must be a public http or https URL")
	}
	u.Fragment = ""
	key := u.String()
	if card, ok := f.stored(key); ok {
		return card, nil
	}
	// The first caller may cancel; the others still wait for the result.
	result := f.flight.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		card := f.fetch(ctx, u)
		f.keep(key, card)
		return card, nil
	})
	select {
	case r := <-result:
		card, _ := r.Val.(Card)
		return card, r.Err
	case <-ctx.Done():
		return Card{}, ctx.Err()
	}
}

// Image fetches an image and returns it as a small JPEG, at most maxWidth wide.
func (f *Fetcher) Image(ctx context.Context, address string, maxWidth int) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprint("image ", maxWidth, " ", u)
	if card, ok := f.stored(key); ok {
		return card.Image, nil
	}
	raw, _, _, err := f.get(ctx, u, "image/*", maxImage)
	if err != nil {
		return nil, err
	}
	small, err := thumbnail(raw, maxWidth)
	if err == nil {
		f.keep(key, Card{URL: address, Image: small})
	}
	return small, err
}

func (f *Fetcher) stored(key string) (Card, bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	c, ok := f.cache[key]
	return c.card, ok && time.Now().Before(c.until)
}

func (f *Fetcher) keep(key string, card Card) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.cache == nil {
		f.cache = map[string]cached{}
	}
	if len(f.cache) >= maxCached {
		oldest := ""
		for k, c := range f.cache {
			if oldest == "" || c.until.Before(f.cache[oldest].until) {
				oldest = k
			}
		}
		delete(f.cache, oldest)
	}
	f.cache[key] = cached{card, time.Now().Add(lifetime)}
}

func (f *Fetcher) fetch(ctx context.Context, u *url.URL) Card {
	card := Card{URL: u.String(), Site: strings.TrimPrefix(u.Hostname(), "www.")}
	body, at, contentType, err := f.get(ctx, u, "text/html, application/xhtml+xml", maxPage)
	if err != nil || !strings.Contains(contentType, "html") {
		return card
	}
	text, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return card
	}
	m := readMeta(text)
	card.Title = short(first(m["og:title"], m["twitter:title"], m["title"]))
	card.Description = short(first(m["og:description"], m["twitter:description"], m["description"]))
	if picture, err := at.Parse(first(m["og:image:secure_url"], m["og:image"], m["og:image:url"],
		m["twitter:image"])); err == nil && picture.String() != at.String() {
		if raw, _, _, err := f.get(ctx, picture, "image/*", maxImage); err == nil {
			card.Image, _ = thumbnail(raw, maxWidth) // without an image, it is still a card
		}
	}
	return card
}

// get reads at most limit bytes of a resource. at is where redirects ended.
func (f *Fetcher) get(
	ctx context.Context, u *url.URL, accept string, limit int64,
) (body []byte, at *url.URL, contentType string, err error) {
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, nil, "", errors.New("only public http and https URLs are fetched")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, "", err
	}
	r.Header.Set("User-Agent", "Dateline")
	r.Header.Set("Accept", accept)
	client := *f.Web
	client.Jar = nil
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || (r.URL.Scheme != "http" && r.URL.Scheme != "https") || r.URL.User != nil {
			return errors.New("it redirects too often, or to a URL that is not allowed")
		}
		r.Header.Del("Referer") // the address may hold a secret
		return nil
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, nil, "", fmt.Errorf("the server responded with status %d", answer.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, limit))
	return body, answer.Request.URL, answer.Header.Get("Content-Type"), err
}

// readMeta reads the title and the meta elements of a page's head. The first of
// a name counts.
func readMeta(r io.Reader) map[string]string {
	out := map[string]string{}
	set := func(name, value string) {
		if value = strings.TrimSpace(value); name != "" && value != "" && out[name] == "" {
			out[name] = value
		}
	}
	for z := html.NewTokenizer(r); ; {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			switch token.Data {
			case "body":
				return out
			case "title":
				if z.Next() == html.TextToken {
					set("title", z.Token().Data)
				}
			case "meta":
				attr := map[string]string{}
				for _, a := range token.Attr {
					attr[a.Key] = a.Val
				}
				set(strings.ToLower(first(attr["property"], attr["name"])), attr["content"])
			}
		}
	}
}

// thumbnail creates a small JPEG of an image. It is re-encoded, so that only pixels
// reach a browser.
func thumbnail(raw []byte, maxWidth int) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if config.Width < 1 || config.Height < 1 || config.Width*config.Height > maxPixels {
		return nil, errors.New("the image is too large")
	}
	source, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	width := min(config.Width, maxWidth)
	height := max(1, config.Height*width/config.Width)
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(out, out.Bounds(), source, source.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	err = jpeg.Encode(&b, out, &jpeg.Options{Quality: 80})
	return b.Bytes(), err
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	return string([]rune(text)[:maxText-1]) + "…"
}
