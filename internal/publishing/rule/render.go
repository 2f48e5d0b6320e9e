package rule

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/infra/words"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/scheduling"
)

// placeholder matches the placeholders of a template.
func placeholder() *regexp.Regexp { return regexp.MustCompile(`\{[a-z_]*\}`) }

// Placeholders lists what a template may contain.
func Placeholders() []string {
	return []string{"{title}", "{lead}", "{author}", "{section}", "{url}", "{hashtags}"}
}

// Text is the text of a post on one account.
type Text struct {
	AccountID uuid.UUID
	Network   string
	Text      string
	Length    int // as the network counts
	MaxLength int // 0: unknown or unlimited
}

// render renders the text of an article for each account. A text that is too long loses
// words at the end of the lead, then hashtags, then words at the end of the title.
// variant selects the wording.
func (r Rule) render(
	a Article, variant int, accounts []account.Account, limits map[uuid.UUID]scheduling.TextLimit,
) []Text {
	out := make([]Text, 0, len(accounts))
	for _, acc := range accounts {
		limit := limits[acc.ID]
		text := r.fit(a, acc.Network, r.wording(acc.Network, variant), func(text string) bool {
			return limit.Max == 0 || limit.Count(text) <= limit.Max
		})
		one := Text{AccountID: acc.ID, Network: acc.Network, Text: text, MaxLength: limit.Max}
		if limit.Count != nil {
			one.Length = limit.Count(text)
		}
		out = append(out, one)
	}
	return out
}

// wordings returns the template for a network and its variants.
func (r Rule) wordings(network string) []string {
	if _, ok := r.Templates[network]; !ok {
		network = DefaultTemplate
	}
	return append([]string{r.Templates[network]}, r.Variants[network]...)
}

func (r Rule) wording(network string, variant int) string {
	all := r.wordings(network)
	return all[variant%len(all)]
}

func (r Rule) fit(a Article, network, template string, fits func(string) bool) string {
	title, lead, tags := strings.TrimSpace(a.Title), strings.TrimSpace(a.Lead), r.hashtags(a)
	fill := func() string {
		return tidy(strings.NewReplacer("{title}", title, "{lead}", lead, "{author}", strings.Join(a.Authors, ", "),
			"{section}", a.Section,
			"{url}", r.address(a, network), "{hashtags}", strings.Join(tags, " ")).Replace(template))
	}
	if text := fill(); fits(text) {
		return text
	}
	if strings.Contains(template, "{lead}") {
		lead = shorten(lead, func(s string) bool { lead = s; return fits(fill()) })
	}
	for len(tags) > 0 && !fits(fill()) {
		tags = tags[:len(tags)-1]
	}
	if text := fill(); fits(text) || !strings.Contains(template, "{title}") {
		return text
	}
	title = shorten(title, func(s string) bool { title = s; return fits(fill()) })
	return fill()
}

// shorten returns the longest beginning of a text, of whole words, that fits; empty if
// none does.
func shorten(text string, fits func(string) bool) string {
	words := strings.Fields(text)
	cut := func(n int) string {
		if n == 0 {
			return ""
		}
		if n == len(words) {
			return text
		}
		return strings.TrimRight(strings.Join(words[:n], " "), ".,;:!?–-") + "…"
	}
	n := sort.Search(len(words)+1, func(n int) bool { return !fits(cut(n)) })
	return cut(max(n-1, 0))
}

// tidy removes what empty placeholders leave behind.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var out []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// hashtags returns the hashtags of an article's section and tags, each once.
func (r Rule) hashtags(a Article) (out []string) {
	for _, value := range append([]string{a.Section}, a.Tags...) {
		for key, tags := range r.Hashtags {
			if words.Key(key) != words.Key(value) {
				continue
			}
			for _, tag := range strings.Fields(tags) {
				if !slices.Contains(out, tag) && len(out) < maxHashtags {
					out = append(out, tag)
				}
			}
		}
	}
	return out
}

// address returns the article's address, with the campaign parameters if there are any.
func (r Rule) address(a Article, network string) string {
	if r.UTM == nil {
		return a.URL
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return a.URL
	}
	q := u.Query()
	for name, value := range map[string]string{
		"utm_source": cmp.Or(r.UTM.Source, network), "utm_medium": r.UTM.Medium,
		"utm_campaign": r.UTM.Campaign,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// hashTexts identifies the texts of a post, in any order.
func hashTexts(texts []Text) []byte {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b Text) int { return bytes.Compare(a.AccountID[:], b.AccountID[:]) })
	h := sha256.New()
	for _, t := range texts {
		_, _ = h.Write(t.AccountID[:])
		_, _ = h.Write([]byte(t.Text + "\x00"))
	}
	return h.Sum(nil)
}

// overrides splits texts into the text of the post and the accounts with another one.
func overrides(texts []Text) (content string, others map[string]*scheduling.Override) {
	others = map[string]*scheduling.Override{}
	for i, t := range texts {
		if i == 0 {
			content = t.Text
		}
		others[t.AccountID.String()] = nil
		if t.Text != content {
			others[t.AccountID.String()] = &scheduling.Override{Content: &t.Text}
		}
	}
	return content, others
}
