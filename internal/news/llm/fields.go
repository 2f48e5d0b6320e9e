package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl/change"
)

const (
	pathTokens    = 800
	articleTokens = 4000
	// maxPathsPerField limits the suggested paths of a field.
	maxPathsPerField = 3
	// minLetters is the length of the shortest article.
	minLetters = 200
)

// Fields suggests values of fields on a page, and XPath expressions for them. It returns
// only values that the page contains and only valid expressions; the caller verifies
// them.
func (c *Client) Fields(
	ctx context.Context, p extract.Page, fields []article.Field,
) (map[article.Field]selector.Suggestion, error) {
	doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
	if err != nil {
		return nil, err
	}
	one := map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"value", "paths"},
		"properties": map[string]any{
			"value": map[string]any{"type": "string"}, "paths": map[string]any{
				"type": "array", "items": map[string]any{"type": "string"},
			},
		},
	}
	properties, names := map[string]any{}, make([]string, len(fields))
	for i, f := range fields {
		names[i] = string(f)
		properties[string(f)] = one
	}
	raw, err := c.complete(ctx, request{
		name: "fields", page: Skeleton(doc.Root, c.maxPageBytes(pathTokens)),
		maxTokens: pathTokens,
		task: "For these fields of the article on this page, copy the value word for word as the page shows it, and " +
			"give XPath 1.0 expressions that select it, the best first, " +
			"at most three of each; an empty value and an empty list where the page does not have the field: " +
			strings.Join(names, ", ") + ". Name elements by id, itemprop or one " +
			"name of their class, such as //span[contains(concat(' ',normalize-space(@class),' '),' byline ')]; " +
			"never by position, and never by the text of this one article.",
		schema: map[string]any{
			"type": "object", "properties": properties, "required": names,
			"additionalProperties": false,
		},
	})
	if err != nil {
		return nil, err
	}
	var response map[string]struct {
		Value string   `json:"value"`
		Paths []string `json:"paths"`
	}
	if json.Unmarshal(raw, &response) != nil {
		return nil, ErrInvalidResponse
	}
	page := visibleText(doc.Root)
	out := map[article.Field]selector.Suggestion{}
	for _, f := range fields {
		one := selector.Suggestion{Value: cleanText(response[string(f)].Value)}
		if d := withoutSpaces(one.Value); d == "" || !strings.Contains(page, d) {
			one.Value = ""
		}
		for _, path := range response[string(f)].Paths {
			candidate := selector.Config{
				Variants: []selector.Variant{
					{Name: "suggested", Body: []string{"//body"}, Fields: map[article.Field][]string{f: {path}}},
				},
			}
			if len(one.Paths) < maxPathsPerField && candidate.Validate() == nil {
				one.Paths = append(one.Paths, path)
			}
		}
		out[f] = one
	}
	return out, nil
}

// ExtractArticle extracts the article of a page. Text that the page does not contain is
// dropped; if less than a few sentences remain, there is no article.
func (c *Client) ExtractArticle(ctx context.Context, doc *extract.Document, p extract.Page) (*article.Article, error) {
	page := visibleText(doc.Root)
	if utf8.RuneCountInString(page) < minLetters {
		return nil, extract.ErrNoArticle // too short to ask
	}
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	one := map[string]any{"type": "string"}
	names := []string{"title", "authors", "published", "paragraphs"}
	raw, err := c.complete(ctx, request{
		name: "article", page: Skeleton(doc.Root, c.maxPageBytes(articleTokens)),
		maxTokens: articleTokens,
		task: "Copy the article of this page, word for word: its headline, the names of its authors, the date of " +
			"publication as the page writes it, and the paragraphs of its " +
			"text without advertisements, teasers of other articles and comments. Leave empty what the page does not " +
			"have. A page that is no news article has no paragraphs.",
		schema: map[string]any{
			"type": "object", "properties": map[string]any{
				"title": one, "authors": list, "published": one,
				"paragraphs": list,
			}, "required": names, "additionalProperties": false,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", extract.ErrNoArticle, err)
	}
	var response struct {
		Title      string   `json:"title"`
		Authors    []string `json:"authors"`
		Published  string   `json:"published"`
		Paragraphs []string `json:"paragraphs"`
	}
	if json.Unmarshal(raw, &response) != nil {
		return nil, fmt.Errorf("%w (%w)", extract.ErrNoArticle, ErrInvalidResponse)
	}
	onPage := func(s string) bool { d := withoutSpaces(s); return d != "" && strings.Contains(page, d) }
	a := &article.Article{Canonical: p.URL}
	found := func(f article.Field) { a.SetOrigin(f, article.FromLLM, 0.5) }
	if a.Title = cleanText(response.Title); onPage(a.Title) {
		found(article.FieldTitle)
	} else {
		a.Title = ""
	}
	for _, name := range response.Authors {
		if name = cleanText(name); onPage(name) && utf8.RuneCountInString(name) <= 80 {
			a.Authors = append(a.Authors, name)
			found(article.FieldAuthors)
		}
	}
	if d, ok := dates.Parse(response.Published, doc.DateOptions(p)); ok && onPage(response.Published) &&
		(p.Now.IsZero() || !d.Time.After(p.Now)) {
		a.Published, a.DateOnly = d.Time, !d.HasTime
		found(article.FieldPublished)
	}
	var paragraphs, htmlParagraphs []string
	letters := 0
	for _, text := range response.Paragraphs {
		if text = cleanText(text); onPage(text) {
			paragraphs, htmlParagraphs = append(paragraphs, text), append(htmlParagraphs,
				"<p>"+html.EscapeString(text)+"</p>")
			letters += utf8.RuneCountInString(text)
		}
	}
	if letters < minLetters {
		return nil, fmt.Errorf("%w (the LLM found none either)", extract.ErrNoArticle)
	}
	a.Text, a.HTML = strings.Join(paragraphs, "\n\n"), strings.Join(htmlParagraphs, "\n")
	found(article.FieldBody)
	return a, nil
}

// cleanText decodes the HTML entities that some models copy, and normalizes white space.
func cleanText(s string) string { return change.NormalizeText(html.UnescapeString(s)) }
