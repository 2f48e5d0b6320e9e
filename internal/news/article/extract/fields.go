package extract

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
)

// readLead uses the description in the metadata, in the form that is visible on the page
// if there is one.
func (r *builder) readLead() {
	lead, source, conf := "", article.FromHTML, 0.8
	for _, c := range []candidate{
		{r.meta.first("og:description"), article.FromOpenGraph, 0.85},
		{r.jsonLD.text("description"), article.FromJSONLD, 0.8},
		{r.meta.first("description", "twitter:description", "itemprop:description"), article.FromMeta, 0.75},
	} {
		if c.value = r.stripLead(clean(c.value)); utf8.RuneCountInString(c.value) >= 20 &&
			!sameTitle(c.value, r.a.Title) {
			lead, source, conf = c.value, c.source, c.weight
			break
		}
	}
	for i, n := range r.meta.leads {
		if i > 8 || r.isInJunk(n) {
			continue
		}
		t := r.stripLead(textOf(n, 1200))
		if utf8.RuneCountInString(t) < 40 || r.isInsideLink(n) {
			continue
		}
		if lead == "" || hasLongPrefix(t, strings.TrimRight(lead, ".… ")) {
			lead, conf = t, 0.9
			break
		}
	}
	if isTruncated(lead) { // an excerpt of the text, cut off
		for _, b := range r.blocks {
			if hasLongPrefix(b, strings.TrimRight(lead, ".… ")) {
				lead = b
				break
			}
		}
	}
	if lead != "" {
		r.a.Lead = lead
		r.a.SetOrigin(article.FieldLead, source, conf)
	}
}

func hasLongPrefix(whole, start string) bool {
	w, s := fold(whole), fold(start)
	return len(s) > 20 && strings.HasPrefix(w, s)
}

// stripLead removes the name of the site from both ends: "(Dân trí) - …", "… -
// VnExpress".
func (r *builder) stripLead(s string) string {
	if strings.HasPrefix(s, "(") {
		if i := strings.Index(s, ")"); i > 0 && i < 40 && r.isSitePart(s[1:i]) {
			s = strings.TrimLeft(s[i+1:], " -–—:")
		}
	}
	for _, sep := range []string{" - ", " – ", " | "} {
		if i := strings.LastIndex(s, sep); i > 20 && r.isSite(s[i+len(sep):]) {
			s = strings.TrimSpace(s[:i])
		}
		if i := strings.Index(s, sep); i > 0 && i < 30 && r.isSite(s[:i]) {
			s = strings.TrimSpace(s[i+len(sep):])
		}
	}
	return s
}

func (r *builder) readImage() {
	for _, c := range []candidate{
		{r.meta.first("og:image:secure_url", "og:image", "og:image:url"), article.FromOpenGraph, 0.9},
		{r.jsonLD.address(r.jsonLD.article["image"], 0), article.FromJSONLD, 0.9},
		{
			r.meta.first("twitter:image", "twitter:image:src", "itemprop:image", "parsely-image-url"), article.FromMeta,
			0.8,
		},
		{firstOf(r.meta.microdata["image"]...), article.FromMicrodata, 0.6},
		{clean(r.meta.links["image_src"]), article.FromMeta, 0.7},
		{r.firstImage, article.FromHTML, 0.5},
	} {
		if u := r.absolute(c.value); u != "" && !strings.Contains(strings.ToLower(u), "logo") && !isAvatarURL(u) {
			r.a.Image = u
			r.a.SetOrigin(article.FieldImage, c.source, c.weight)
			return
		}
	}
}

// absolute resolves a URL; only http and https are allowed.
func (r *builder) absolute(ref string) string { return absolute(r.doc.Base, ref) }

func absolute(base *url.URL, ref string) string {
	if ref = strings.TrimSpace(ref); ref == "" || len(ref) > 4000 {
		return ""
	}
	u, err := base.Parse(ref)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// readSection uses the first breadcrumb that is neither the home page nor the article,
// else the metadata.
func (r *builder) readSection() {
	set := func(v string, s article.Source, c float64) bool {
		v, _, _ = strings.Cut(clean(v), ",")
		v = strings.Trim(v, " >»/|")
		if v == "" || utf8.RuneCountInString(v) > 60 {
			return false
		}
		if r.isSite(v) || isHomeLabel(v) || !hasLetter(v) || sameTitle(v, r.a.Title) {
			return false
		}
		r.a.Section = v
		r.a.SetOrigin(article.FieldSection, s, c)
		return true
	}
	for _, c := range r.jsonLD.breadcrumbNames {
		if set(c, article.FromJSONLD, 0.9) {
			return
		}
	}
	if set(r.meta.first("article:section", "og:article:section", "parsely-section", "cxenseparse:section"),
		article.FromOpenGraph, 0.85) ||
		set(r.jsonLD.text("articleSection"), article.FromJSONLD, 0.85) ||
		set(firstOf(r.meta.values["itemprop:articlesection"]...), article.FromMicrodata, 0.8) ||
		set(firstOf(r.meta.microdata["articlesection"]...), article.FromMicrodata, 0.8) {
		return
	}
	for _, n := range r.meta.breadcrumbs {
		for _, t := range linkTexts(n) {
			if set(t, article.FromHTML, 0.7) {
				return
			}
		}
	}
	if set(r.meta.first("section", "its_section", "category", "news_category"), article.FromMeta, 0.6) {
		return
	}
	for _, c := range r.ownTerms(categoryTerm) {
		if set(c, article.FromHTML, 0.4) {
			return
		}
	}
}

func isHomeLabel(s string) bool {
	switch Plain(s) {
	case "post", "posts", "article", "articles", "all", "general", "uncategorized", "chuaphanloai", "khongphanloai",
		"chuaduocphanloai", "blog", "story", "stories", "blogs", "главная",
		"home", "homepage", "trangchu", "frontpage", "start", "startseite", "hauptseite", "inicio", "accueil":
		return true
	}
	return false
}

func linkTexts(n *html.Node) []string {
	var out []string
	for d := range n.Descendants() {
		if d.DataAtom == atom.A && len(out) < 10 {
			if t := textOf(d, 100); t != "" {
				out = append(out, t)
			}
		}
	}
	return out
}

// maxTags limits the tags of an article.
const maxTags = 30

func (r *builder) setTags(s article.Source, c float64, values ...string) bool {
	var out []string
	seen := map[string]bool{}
	for _, v := range values {
		for t := range strings.SplitSeq(strings.ReplaceAll(clean(v), ";", ","), ",") {
			t = strings.TrimSpace(t)
			if f := fold(t); f != "" && !seen[f] && utf8.RuneCountInString(t) <= 60 && len(out) < maxTags &&
				!r.isSite(t) {
				seen[f] = true
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return false
	}
	r.a.Tags = out
	r.a.SetOrigin(article.FieldTags, s, c)
	return true
}

func (r *builder) readTags() {
	if r.setTags(article.FromOpenGraph, 0.9, append(append([]string{}, r.meta.values["article:tag"]...),
		r.meta.values["og:article:tag"]...)...) ||
		r.setTags(article.FromJSONLD, 0.9, namesOf(r.jsonLD.article["keywords"])...) {
		return
	}
	for _, k := range []string{"news_keywords", "parsely-tags", "sailthru.tags", "keywords"} {
		if r.setTags(article.FromMeta, 0.7, r.meta.values[k]...) {
			return
		}
	}
	r.setTags(article.FromHTML, 0.6, r.ownTerms(tagTerm)...)
}

// namesOf returns strings and the names of objects, such as a DefinedTerm of schema.org.
func namesOf(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return texts(v)
	}
	var out []string
	for _, e := range list {
		if o, ok := e.(map[string]any); ok {
			e = o["name"]
		}
		out = append(out, texts(e)...)
	}
	return out
}

// readCanonical accepts a canonical URL of the same site. The home page is not the
// canonical URL of other pages.
func (r *builder) readCanonical() {
	for _, c := range []candidate{
		{r.meta.links["canonical"], article.FromMeta, 0.95},
		{r.meta.first("og:url"), article.FromOpenGraph, 0.85},
		{r.jsonLD.address(r.jsonLD.article["mainEntityOfPage"], 0), article.FromJSONLD, 0.8},
		{r.jsonLD.text("url"), article.FromJSONLD, 0.8},
		{r.doc.URL.String(), article.FromURL, 0.6},
	} {
		u, err := url.Parse(r.absolute(c.value))
		if err != nil || u.Host == "" {
			continue
		}
		if own := r.doc.URL; own.Host != "" {
			if !sameSite(own.Hostname(), u.Hostname()) || len(own.Path) > 1 && len(u.Path) <= 1 && u.RawQuery == "" {
				continue
			}
		}
		u.Fragment = ""
		r.a.Canonical = u.String()
		r.a.SetOrigin(article.FieldCanonical, c.source, c.weight)
		return
	}
}

// sameSite reports whether two hosts belong to one site: one is a subdomain of the
// other, or both are subdomains of a common domain with at least two labels.
func sameSite(a, b string) bool {
	a, b = strings.TrimPrefix(a, "www."), strings.TrimPrefix(b, "www.")
	if a == b || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a) {
		return true
	}
	_, ra, _ := strings.Cut(a, ".")
	_, rb, _ := strings.Cut(b, ".")
	return ra == rb && strings.Count(ra, ".") > 0
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
