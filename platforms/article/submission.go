package article

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"dateline/platforms/matching"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Of returns the article of a submission, without its attachments. A post without a text is
// named after its first attachment, because an article needs a title.
func Of(title string, submission network.Submission) Article {
	written := New(title, submission.Text)
	for _, m := range submission.Media {
		if written.Title == "" {
			written.Title = cmp.Or(strings.TrimSpace(m.AltText), strings.TrimSuffix(m.FileName, path.Ext(m.FileName)))
		}
	}
	return written
}

// SlugOf returns the slug of the draft of a submission. It includes the attachments: after
// they were uploaded again, another draft has them.
func SlugOf(title string, limit int, submission network.Submission) string {
	return Slug(Of(title, submission).Title, limit, append([]string{submission.Key}, submission.MediaIDs...)...)
}

// FirstImage returns the index of the first uploaded image of a submission; -1: none.
func FirstImage(submission network.Submission) int {
	i := slices.IndexFunc(submission.Media, func(m network.Media) bool {
		return strings.HasPrefix(m.MIMEType, "image/")
	})
	if i >= len(submission.MediaIDs) {
		return -1
	}
	return i
}

// Check returns what a content management system would refuse. name is its display name.
func Check(name string, content network.Content, limits network.Limits) []network.Violation {
	problems := rules.Check(name, content, limits, len([]rune(content.Text)))
	if content.Reply {
		problems = append(problems, network.NewViolation("content", "no_threads",
			"{network} has no replies: write one article instead of a thread.", name))
	}
	return problems
}

// Preview shows the title and the text of the body. title is that of the options.
func Preview(title string, content network.Content) network.Preview {
	written := New(title, content.Text)
	p := network.Preview{Text: strings.TrimSpace(written.Title + "\n\n" + PlainText(written.HTML))}
	if title == "" && p.Text != "" {
		p.Notes = append(p.Notes, network.NewNote("first_line_is_title",
			"The first line is the title of the article. Markdown formats the rest."))
	}
	return p
}

const (
	maxTerms = 30
	maxSlug  = 150
)

// Fields are the options that content management systems share.
type Fields struct {
	Title, Excerpt, Slug string
	MaxTitle, MaxExcerpt int
	Lists                map[string][]string // by the name of the option
}

// Check adds the problems of the options.
func (f Fields) Check(c *rules.Options) {
	c.MaxRunes("title", f.Title, f.MaxTitle)
	c.MaxRunes("excerpt", f.Excerpt, f.MaxExcerpt)
	if f.Slug != "" && (f.Slug != Words(f.Slug) || len(f.Slug) > maxSlug) {
		c.Add("slug", "not_a_slug",
			"Use at most {limit} lower-case letters without accents, digits and single hyphens.", maxSlug)
	}
	for _, field := range slices.Sorted(maps.Keys(f.Lists)) {
		names := f.Lists[field]
		if len(names) > maxTerms {
			c.Add(field, "too_many_terms", "There are {used} entries; {network} allows {limit} here.", len(names),
				c.Name, maxTerms)
		}
		for i, name := range names {
			if strings.TrimSpace(name) == "" {
				c.Add(fmt.Sprintf("%s[%d]", field, i), "empty_term", "This entry is empty. Fill it in or remove it.")
			}
			c.MaxRunes(fmt.Sprintf("%s[%d]", field, i), name, 200)
		}
	}
}

// Fold returns the name of a tag as sites should compare it: to their own databases,
// "HÀ NỘI" and "Hà Nội" can be two tags.
func Fold(name string) string {
	name = strings.Join(strings.Fields(html.UnescapeString(name)), " ")
	return cases.Fold().String(norm.NFC.String(name))
}

// ContainsAll reports whether a list has every wanted value.
func ContainsAll[T comparable](list, wanted []T) bool {
	return !slices.ContainsFunc(wanted, func(v T) bool { return !slices.Contains(list, v) })
}

// AddLost adds the options that a site did not apply.
func AddLost(c *matching.Comparison, lost map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if lost[name] {
			c.Option(name, true, false)
		}
	}
}

// Unreadable is the error for an attachment that cannot be read.
func Unreadable(media network.Media, err error) *network.Error {
	return &network.Error{
		Class: network.NotSent, Code: "media_unreadable",
		Message: "The attachment " + media.FileName + " could not be read from storage.", Err: err,
	}
}
