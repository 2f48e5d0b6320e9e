package extract

import (
	"encoding/json"
	"strings"
)

// jsonLD is the JSON-LD of a page: a https://schema.org/NewsArticle and the objects it
// refers to.
type jsonLD struct {
	article         map[string]any
	breadcrumbNames []string
	byID            map[string]map[string]any
	organizations   []string // of organizations
	types           map[string]bool
	updates         []liveUpdate // entries of a live blog
}

// maxObjects limits the objects of the scripts.
const maxObjects = 2000

func parseJSONLD(scripts []string) *jsonLD {
	l := &jsonLD{byID: map[string]map[string]any{}, types: map[string]bool{}}
	best, seen := 0, 0
	for _, s := range scripts {
		var v any
		if json.Unmarshal([]byte(s), &v) != nil && json.Unmarshal([]byte(repairJSON(s)), &v) != nil {
			continue
		}
		l.collect(v, 0, &best, &seen)
	}
	return l
}

// collect finds articles anywhere in a script: alone, in a list, in @graph, or as the
// main entity of a page.
func (l *jsonLD) collect(v any, depth int, best, seen *int) {
	if *seen++; depth > 8 || *seen > maxObjects {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.collect(e, depth+1, best, seen)
		}
	case map[string]any:
		if id, ok := v["@id"].(string); ok && len(v) > 1 {
			if old := l.byID[id]; len(old) < len(v) {
				l.byID[id] = v
			}
		}
		for _, t := range texts(v["@type"]) {
			l.types[t] = true
		}
		if v["liveBlogUpdate"] != nil {
			l.liveUpdates(v["liveBlogUpdate"])
		}
		switch rank := rankOf(v); {
		case rank > *best:
			*best, l.article = rank, v
		case typeIs(v, "BreadcrumbList") && l.breadcrumbNames == nil:
			l.breadcrumbs(v["itemListElement"], 0)
			return
		case typeIs(v, "Organization"), typeIs(v, "NewsMediaOrganization"), typeIs(v, "WebSite"):
			if n, ok := v["name"].(string); ok {
				l.organizations = append(l.organizations, clean(n))
			}
		}
		for _, k := range []string{
			"@graph", "mainEntity", "mainEntityOfPage", "publisher", "author", "hasPart",
			"itemListElement", "breadcrumb",
		} {
			if e, ok := v[k]; ok {
				l.collect(e, depth+1, best, seen)
			}
		}
	}
}

// rankOf ranks the type of an object: the most specific kind of article, with a
// headline, is best.
func rankOf(v map[string]any) int {
	rank := 0
	for _, t := range texts(v["@type"]) {
		t = strings.TrimPrefix(strings.TrimPrefix(t, "http://schema.org/"), "https://schema.org/")
		switch {
		case strings.HasSuffix(t, "NewsArticle"):
			rank = max(rank, 5)
		case t == "Article" || strings.HasSuffix(t, "Article") || t == "LiveBlogPosting" || t == "Report":
			rank = max(rank, 4)
		case strings.HasSuffix(t, "Posting"):
			rank = max(rank, 3)
		case t == "WebPage" && v["datePublished"] != nil:
			rank = max(rank, 1)
		}
	}
	if rank > 1 && v["headline"] == nil {
		rank = 2
	}
	return rank
}

// hasType reports whether a script has an object of a type.
func (l *jsonLD) hasType(t string) bool { return l.types[t] }

func typeIs(v map[string]any, t string) bool {
	for _, x := range texts(v["@type"]) {
		if x == t {
			return true
		}
	}
	return false
}

// breadcrumbs reads list items in order; some sites wrap each of them in a separate
// list.
func (l *jsonLD) breadcrumbs(v any, depth int) {
	if depth > 3 || len(l.breadcrumbNames) > 10 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.breadcrumbs(e, depth+1)
		}
	case map[string]any:
		name, _ := v["name"].(string)
		if item, ok := v["item"].(map[string]any); ok && name == "" {
			name, _ = item["name"].(string)
		}
		if name = clean(name); name != "" {
			l.breadcrumbNames = append(l.breadcrumbNames, name)
		}
	}
}

// text returns a text property of the article.
func (l *jsonLD) text(key string) string {
	for _, s := range texts(l.article[key]) {
		if s = clean(s); s != "" {
			return s
		}
	}
	return ""
}

// people returns the names of persons and of organizations in a property.
func (l *jsonLD) people(key string) (persons, groups []string) {
	var add func(v any, depth int)
	add = func(v any, depth int) {
		if depth > 3 || len(persons)+len(groups) > maxValuesPerName {
			return
		}
		switch v := v.(type) {
		case string:
			persons = append(persons, clean(v))
		case []any:
			for _, e := range v {
				add(e, depth+1)
			}
		case map[string]any:
			if id, ok := v["@id"].(string); ok && v["name"] == nil && l.byID[id] != nil {
				v = l.byID[id]
			}
			for _, n := range texts(v["name"]) {
				if typeIs(v, "Organization") || typeIs(v, "NewsMediaOrganization") {
					groups = append(groups, clean(n))
				} else {
					persons = append(persons, clean(n))
				}
			}
		}
	}
	add(l.article[key], 0)
	return persons, groups
}

// address returns the first URL of an image or page, which may be a string, an object or
// a list.
func (l *jsonLD) address(v any, depth int) string {
	if depth > 3 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case []any:
		for _, e := range v {
			if s := l.address(e, depth+1); s != "" {
				return s
			}
		}
	case map[string]any:
		for _, k := range []string{"url", "contentUrl", "@id"} {
			if s, ok := v[k].(string); ok && s != "" {
				if o := l.byID[s]; k == "@id" && o != nil && o["url"] != nil {
					return l.address(o["url"], depth+1)
				}
				return strings.TrimSpace(s)
			}
		}
	}
	return ""
}

// texts returns a string or list of strings as a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// repairJSON repairs common template errors: comment markers around the script, line
// breaks in strings, and trailing commas.
func repairJSON(s string) string {
	s = strings.TrimSpace(s)
	for _, p := range []string{"<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA["} {
		s = strings.TrimPrefix(s, p)
	}
	for _, p := range []string{"-->", "//]]>", "/*]]>*/", "]]>", ";"} {
		s = strings.TrimSuffix(s, p)
	}
	out := make([]byte, 0, len(s))
	text, escaped := false, false
	for i := range len(s) {
		c := s[i]
		switch {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case text && c < ' ':
			c = ' '
		case !text && (c == '}' || c == ']'):
			k := len(out)
			for k > 0 && (out[k-1] == ' ' || out[k-1] == '\n' || out[k-1] == '\r' || out[k-1] == '\t') {
				k--
			}
			if k > 0 && out[k-1] == ',' {
				out = out[:k-1]
			}
		}
		out = append(out, c)
	}
	return string(out)
}
