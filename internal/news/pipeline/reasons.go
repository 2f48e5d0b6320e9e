package pipeline

import (
	"errors"
	"fmt"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// NoArticleReason is why a fetched page has no article. The values are part of the API.
type NoArticleReason string

// Reasons.
const (
	ReasonList            NoArticleReason = "list_page"         // a list of other articles
	ReasonNoHeadline      NoArticleReason = "no_headline"       // nothing names the article
	ReasonTooShort        NoArticleReason = "too_short"         // too few words of text
	ReasonBoilerplate     NoArticleReason = "boilerplate"       // little text, no date, and mostly other content
	ReasonNoText          NoArticleReason = "no_text"           // no text, such as a page that needs JavaScript
	ReasonNotHTML         NoArticleReason = "not_html"          // another kind of file
	ReasonEncoding        NoArticleReason = "unknown_encoding"  // its characters cannot be decoded
	ReasonTooLarge        NoArticleReason = "too_large"         // above the limits of size, depth or elements
	ReasonTooSlow         NoArticleReason = "too_slow"          // above the limit of time
	ReasonPageDeleted     NoArticleReason = "page_deleted"      // the raw page is no longer stored
	ReasonExtractionError NoArticleReason = "extraction_failed" // an error of Dateline
)

// reasonOf returns the reason for an error of extraction.
func reasonOf(err error) NoArticleReason {
	for _, c := range []struct {
		err    error
		reason NoArticleReason
	}{
		{extract.ErrNoArticle, ReasonNoText},
		{extract.ErrNotHTML, ReasonNotHTML},
		{extract.ErrEncoding, ReasonEncoding},
		{extract.ErrTooSlow, ReasonTooSlow},
		{extract.ErrTooLarge, ReasonTooLarge},
		{extract.ErrTooDeep, ReasonTooLarge},
		{extract.ErrTooManyNodes, ReasonTooLarge},
	} {
		if errors.Is(err, c.err) {
			return c.reason
		}
	}
	return ReasonExtractionError
}

// Thresholds below which a page does not count as an article.
const (
	minWords            = 30
	minConfidence       = 0.55 // of the body
	minWordsWithoutDate = 120
	minDateConfidence   = 0.25
)

// dropUncertainDate removes a date of publication that is only that of some sentence of
// the page: an article about an old event is not old.
func dropUncertainDate(a *article.Article) {
	if o, ok := a.Origins[article.FieldPublished]; ok && o.Confidence < minDateConfidence {
		a.Published, a.DateOnly = time.Time{}, false
		delete(a.Origins, article.FieldPublished)
	}
}

// notArticleReason returns why a page does not count as an article, or an empty reason.
func notArticleReason(a *article.Article) (reason NoArticleReason, detail string) {
	words := countWords(a.Text)
	for _, e := range a.Live {
		words += countWords(e.Text)
	}
	_, hasDate := a.Origins[article.FieldPublished]
	confidence := a.Origins[article.FieldBody].Confidence
	switch {
	case a.IsListing:
		return ReasonList, "the page is a list of other articles"
	case a.Title == "":
		return ReasonNoHeadline, "the page has no headline"
	case words < minWords:
		return ReasonTooShort, fmt.Sprintf("the page has %d words of text", words)
	case !hasDate && confidence < minConfidence && words < minWordsWithoutDate:
		return ReasonBoilerplate, "the page has little text, no date, and mostly other content"
	}
	return "", ""
}
