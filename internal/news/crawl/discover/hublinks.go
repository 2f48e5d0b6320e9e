package discover

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"dateline/internal/news/crawl/weburl"
)

// HubLinks are the WebSub hubs that a feed names, and its address at these hubs.
type HubLinks struct {
	Hubs []string
	Self string
}

const (
	maxHubs        = 5
	maxLinkHeaders = 50
)

// FindHubs returns the hubs of a feed that was fetched from an address: those in its Link
// headers, the values of which are given, else those in the document (W3C WebSub, section
// 4). A feed that does not state
// its own address is known by the one from which it was fetched.
func FindHubs(links []string, doc []byte, at string) HubLinks {
	f := hubFinder{base: at}
	for _, value := range links[:min(len(links), maxLinkHeaders)] {
		f.readHeader(value)
	}
	inHeader := f.found
	f.found = HubLinks{}
	if len(inHeader.Hubs) == 0 || inHeader.Self == "" {
		f.readDocument(doc)
	}
	if len(inHeader.Hubs) > 0 {
		f.found.Hubs = inHeader.Hubs
	}
	if inHeader.Self != "" {
		f.found.Self = inHeader.Self
	}
	if len(f.found.Hubs) == 0 {
		return HubLinks{}
	}
	if f.found.Self == "" {
		f.found.Self = f.absolute(at)
	}
	return f.found
}

// hubFinder collects links.
type hubFinder struct {
	base  string
	found HubLinks
}

// absolute resolves a reference. An absolute one stays as it is written, because hubs may
// compare topics byte by byte.
func (f *hubFinder) absolute(ref string) string {
	ref = strings.TrimSpace(ref)
	if u, err := url.Parse(ref); err == nil &&
		(strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")) && u.Host != "" && u.Fragment == "" {
		return ref
	}
	u, err := weburl.Absolute(f.base, ref)
	if err != nil || !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
		return ""
	}
	return u
}

// add adds a link with its relations, which are separated by spaces.
func (f *hubFinder) add(rel, ref string) {
	for _, one := range strings.Fields(strings.ToLower(rel)) {
		if one != "hub" && one != "self" {
			continue
		}
		u := f.absolute(ref)
		switch {
		case u == "" || strings.TrimSpace(ref) == "":
		case one == "self" && f.found.Self == "":
			f.found.Self = u
		case one == "hub" && len(f.found.Hubs) < maxHubs && !slices.Contains(f.found.Hubs, u):
			f.found.Hubs = append(f.found.Hubs, u)
		}
	}
}

// readHeader reads a Link header (RFC 8288, section 3).
func (f *hubFinder) readHeader(value string) {
	for {
		_, rest, ok := strings.Cut(value, "<")
		if !ok {
			return
		}
		target, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return
		}
		var rel string
		isContext := true // without an anchor, the link is that of the feed
		for {
			rest = strings.TrimLeft(rest, " \t")
			if rest = strings.TrimPrefix(rest, ";"); rest == "" || rest[0] == ',' {
				break
			}
			var name, val string
			name, val, rest = parameter(rest)
			switch {
			case name == "rel" && rel == "":
				rel = val
			case name == "anchor":
				isContext = false
			}
		}
		if isContext {
			f.add(rel, target)
		}
		value = rest
	}
}

// parameter reads a parameter of a Link header, and returns the rest.
func parameter(text string) (name, value, rest string) {
	end := strings.IndexAny(text, "=;,")
	if end < 0 {
		return "", "", ""
	}
	name, rest = strings.ToLower(strings.TrimSpace(text[:end])), text[end:]
	if rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if !strings.HasPrefix(rest, `"`) {
		if end = strings.IndexAny(rest, ";,"); end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '"':
			return name, b.String(), rest[i+1:]
		case rest[i] == '\\' && i+1 < len(rest):
			i++
		}
		b.WriteByte(rest[i])
	}
	return name, b.String(), ""
}

// readDocument reads the link elements of a feed outside of its entries, or the hubs of a
// JSON Feed (jsonfeed.org/version/1.1).
func (f *hubFinder) readDocument(doc []byte) {
	if trimmed := bytes.TrimLeft(doc, "\uFEFF \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		var in struct {
			URL  string                 `json:"feed_url"`
			Hubs []struct{ URL string } `json:"hubs"`
		}
		if json.Unmarshal(trimmed, &in) != nil {
			return
		}
		f.add("self", in.URL)
		for _, h := range in.Hubs {
			f.add("hub", h.URL)
		}
		return
	}
	if !bytes.Contains(doc, []byte("hub")) {
		return // most feeds name none
	}
	at, err := weburl.Parse(f.base, weburl.Rules{DropNothing: true})
	if err != nil {
		return
	}
	defer func(base string) { f.base = base }(f.base)
	reader := newXMLReader(doc)
	entry := ""
	for {
		t := reader.next()
		switch {
		case t.done:
			return
		case entry != "" && t.end == entry:
			entry = ""
		case t.start == nil || entry != "":
		case t.start.name == "item" || t.start.name == "entry":
			if !t.start.empty {
				entry = t.start.full()
			}
		case t.start.name == "link" && t.start.attr["href"] != "":
			f.base = reader.base(at).String()
			f.add(strings.Join(t.start.relations(), " "), t.start.attr["href"])
		}
	}
}
