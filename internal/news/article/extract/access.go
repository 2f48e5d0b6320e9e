package extract

import (
	"strings"

	"dateline/internal/news/article"
)

// readAccess reads whether the page says that its text is behind a paywall: content tiers
// (https://developers.facebook.com/docs/instant-articles/subscriptions/content-tiering)
// and isAccessibleForFree (https://schema.org/isAccessibleForFree).
func (r *builder) readAccess() {
	r.a.Access = article.AccessUnknown
	set := func(a article.Access, s article.Source, confidence float64) {
		r.a.Access = a
		r.a.SetOrigin(article.FieldAccess, s, confidence)
	}
	switch strings.ToLower(r.meta.first("article:content_tier", "lp:content_tier", "content_tier")) {
	case "free":
		set(article.AccessFree, article.FromOpenGraph, 0.9)
		return
	case "metered":
		set(article.AccessMetered, article.FromOpenGraph, 0.9)
		return
	case "locked", "paid", "premium":
		set(article.AccessPaid, article.FromOpenGraph, 0.9)
		return
	}
	switch free, known := r.isFree(); {
	case known && free:
		set(article.AccessFree, article.FromJSONLD, 0.8)
	case known:
		set(article.AccessPaid, article.FromJSONLD, 0.8)
	}
}

// isFree reads isAccessibleForFree of the article, else of its parts.
func (r *builder) isFree() (free, known bool) {
	values := []any{r.jsonLD.article["isAccessibleForFree"]}
	if parts, ok := r.jsonLD.article["hasPart"].([]any); ok {
		for _, p := range parts {
			if m, ok := p.(map[string]any); ok {
				values = append(values, m["isAccessibleForFree"])
			}
		}
	} else if m, ok := r.jsonLD.article["hasPart"].(map[string]any); ok {
		values = append(values, m["isAccessibleForFree"])
	}
	for _, v := range values {
		switch v := v.(type) {
		case bool:
			return v, true
		case string:
			switch v = strings.ToLower(v[strings.LastIndexByte(v, '/')+1:]); v {
			case "true", "false":
				return v == "true", true
			}
		}
	}
	if v := firstOf(r.meta.microdata["isaccessibleforfree"]...); v != "" {
		return strings.EqualFold(v, "true"), true
	}
	return false, false
}

// readReservations reads what the publisher forbids machines: robots directives and the TDM
// Reservation Protocol (https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240202/).
// Directives of headers and page add up. A reservation of the headers replaces that of
// the site's tdmrep.json, and one of the page replaces both.
func (r *builder) readReservations() {
	out := &r.a.Reservations
	for _, v := range r.src.Header.Values("X-Robots-Tag") {
		if agent, rest, ok := strings.Cut(v, ":"); ok && !strings.Contains(agent, ",") && !isRobotsDirective(agent) {
			if !strings.EqualFold(strings.TrimSpace(agent), "dateline") {
				continue
			}
			v = rest
		}
		addRobotsDirectives(out, v)
	}
	for _, name := range []string{"robots", "dateline"} {
		for _, v := range r.meta.values[name] {
			addRobotsDirectives(out, v)
		}
	}
	reserved, policy := r.src.Header.Get(article.SiteTDMReservation), r.src.Header.Get(article.SiteTDMPolicy)
	if v := strings.TrimSpace(r.src.Header.Get("Tdm-Reservation")); v != "" {
		reserved, policy = v, r.src.Header.Get("Tdm-Policy")
	}
	if v := strings.TrimSpace(r.meta.first("tdm-reservation")); v != "" {
		reserved, policy = v, r.meta.first("tdm-policy")
	}
	if out.TDM = reserved == "1"; out.TDM {
		out.TDMPolicy = r.absolute(policy)
	}
}

// isRobotsDirective reports whether the text before a colon names a directive and not an
// agent.
func isRobotsDirective(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after":
		return true
	}
	return false
}

func addRobotsDirectives(out *article.Reservations, list string) {
	for d := range strings.SplitSeq(strings.ToLower(list), ",") {
		switch strings.ReplaceAll(strings.TrimSpace(d), " ", "") {
		case "none", "noindex":
			out.NoIndex = true
		case "noarchive", "nocache":
			out.NoArchive = true
		case "nosnippet", "max-snippet:0":
			out.NoSnippet = true
		case "noai", "noimageai":
			out.NoAI = true
		}
	}
}
