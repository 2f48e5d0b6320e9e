package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// xLink matches links: a simplified form of the real rules, independent of the
// adapter's, so that each tests the other.
func xLink() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)https?://[a-z0-9._\p{L}-]+\.\p{L}{2,}[^\s<>"“”]*|\b(?:[a-z0-9-]+\.)+(?:com|org|net|vn|io|co)\b(?:/[^\s<>"“”]*)?`)
}

// xLinks returns the positions of links without trailing punctuation.
func xLinks(text string) [][2]int {
	var found [][2]int
	for _, at := range xLink().FindAllStringIndex(text, -1) {
		link := strings.TrimRight(text[at[0]:at[1]], `.,;:!?'"*…`)
		for strings.HasSuffix(link, ")") && strings.Count(link, ")") > strings.Count(link, "(") {
			link = strings.TrimRight(strings.TrimSuffix(link, ")"), `.,;:!?'"*…`)
		}
		found = append(found, [2]int{at[0], at[0] + len(link)})
	}
	return found
}

// xWeight returns the weighted length of a text
// (https://docs.x.com/fundamentals/counting-characters).
func xWeight(text string) int {
	text = norm.NFC.String(text)
	weight, at := 0, 0
	for _, l := range xLinks(text) {
		weight += xTextWeight(text[at:l[0]]) + 23
		at = l[1]
	}
	return weight + xTextWeight(text[at:])
}

func xTextWeight(text string) int {
	weight := 0
	for clusters := uniseg.NewGraphemes(text); clusters.Next(); {
		runes := clusters.Runes()
		// Several characters in one grapheme cluster are an emoji.
		if len(runes) > 1 && (runes[0] >= 0x203C || slices.Contains(runes, 0xFE0F) || slices.Contains(runes, 0x20E3)) {
			weight += 2
			continue
		}
		for _, r := range runes {
			weight++
			if r > 0x10FF && (r < 0x2000 || r > 0x200D) && (r < 0x2010 || r > 0x201F) && (r < 0x2032 || r > 0x2037) {
				weight++
			}
		}
	}
	return weight
}

// xShort returns the t.co address of a link.
func xShort(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	return "https://t.co/" + hex.EncodeToString(sum[:])[:10]
}

// xShown returns a post's text as in the API, and its links: shortened to t.co,
// with one more for attachments, and with three characters escaped.
func xShown(p Post, origin string) (text string, links []map[string]any) {
	var out strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	add := func(short, expanded, mediaKey string) {
		start := len([]rune(out.String()))
		link := map[string]any{
			"start": start, "end": start + len(short), "url": short, "expanded_url": expanded,
			"display_url": expanded,
		}
		if mediaKey != "" {
			link["media_key"] = mediaKey
		}
		links = append(links, link)
	}
	written, at := norm.NFC.String(strings.TrimSpace(p.listedText())), 0
	for i, l := range xLinks(written) {
		out.WriteString(escape.Replace(written[at:l[0]]))
		expanded := written[l[0]:l[1]]
		if !strings.HasPrefix(strings.ToLower(expanded), "http") {
			expanded = "http://" + expanded
		}
		short := xShort(p.ID + "/" + strconv.Itoa(i))
		add(short, expanded, "")
		out.WriteString(short)
		at = l[1]
	}
	out.WriteString(escape.Replace(written[at:]))
	if len(p.Media) > 0 {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		short := xShort(p.ID + "/media")
		for i, m := range p.Media {
			add(short, origin+"/"+p.Account+"/status/"+p.ID+"/photo/"+strconv.Itoa(i+1), xMediaKey("", m.ID))
		}
		out.WriteString(short)
	}
	return out.String(), links
}

// xEntity returns a post as in listings: the id, the text, and the requested
// fields.
func xEntity(p Post, origin string, fields []string) map[string]any {
	text, links := xShown(p, origin)
	entity := map[string]any{"id": p.ID, "text": text, "edit_history_tweet_ids": []string{p.ID}}
	requested := func(field string) bool { return slices.Contains(fields, field) }
	if xWeight(p.Text) > xMaxWeight {
		// Long posts are truncated, and returned in full only on request.
		if requested("note_tweet") {
			whole := p
			whole.Media = nil
			long, own := xShown(whole, origin)
			entity["note_tweet"] = map[string]any{"text": long, "entities": map[string]any{"urls": own}}
		}
		entity["text"] = string([]rune(text)[:min(200, len([]rune(text)))]) + "… " + xShort(p.ID+"/more")
	}
	if requested("created_at") {
		entity["created_at"] = p.CreatedAt.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05.000Z")
	}
	if requested("entities") && len(links) > 0 {
		entity["entities"] = map[string]any{"urls": links}
	}
	if requested("attachments") && len(p.Media) > 0 {
		keys := make([]string, len(p.Media))
		for i, m := range p.Media {
			keys[i] = xMediaKey("", m.ID)
		}
		entity["attachments"] = map[string]any{"media_keys": keys}
	}
	if requested("attachments") && p.Options["poll"] != nil {
		entity["attachments"] = map[string]any{"poll_ids": []string{p.ID + "1"}}
	}
	if requested("reply_settings") {
		entity["reply_settings"] = "everyone"
		if chosen, ok := p.Options["reply_settings"]; ok {
			entity["reply_settings"] = chosen
		}
	}
	if requested("referenced_tweets") && p.ReplyTo != "" {
		entity["referenced_tweets"] = []map[string]string{{"type": "replied_to", "id": p.ReplyTo}}
	}
	return entity
}
