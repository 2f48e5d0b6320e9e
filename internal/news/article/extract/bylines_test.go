package extract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
)

// Where metadata names nobody, the page does.
func TestAuthors_FromThePage(t *testing.T) {
	for _, c := range []struct {
		name, head, top, end string
		want                 []string
	}{
		{"ByInItsOwnElement", "", `<div><span>By</span> <span>Mai Lan</span></div>`, "", []string{"Mai Lan"}},
		{"ByBeforeSeveralLinks", "", `<div>By <a href="/a">Mai Lan</a>, <a href="/b">Jo Harper</a> and <a href="/c">Ada Perry</a></div>`, "", []string{"Mai Lan", "Jo Harper", "Ada Perry"}},
		{"FrenchLabel", "", `<div>par <span>Didier Roy</span>, 21 juin 2018</div>`, "", []string{"Didier Roy"}},
		{"GermanLabel", "", "", `<div><h5>Autor: </h5>Peter Brandt</div>`, []string{"Peter Brandt"}},
		{"WrittenByBelowTheText", "", "", `<h3>Written by Mai Lan</h3>`, []string{"Mai Lan"}},
		{"NameBeforeDate", "", `<div><span>Mai Lan |</span><span>05.04.2025</span></div>`, "", []string{"Mai Lan"}},
		{"InsideShareBar", "", `<div class="social-bar"><p class="author">Mai Lan</p></div>`, "", []string{"Mai Lan"}},
		{"Biography", "", "", `<div class="author-bio"><h3>Mai Lan</h3><p>` + prose(1)[0] + `</p></div>`, []string{"Mai Lan"}},
		{"ProfileOfAnotherSite", "", `<p><a href="https://social.example/profile/paper">bluesky</a></p>`, "", nil},
		{"LabelForPreviews", `<meta name="twitter:label1" content="Verfasst von"><meta name="twitter:data1" content="Mai Lan">`, "", "", []string{"Mai Lan"}},
		{"ByInASentence", "", "", `<p>The film by Mai Lan was shown in the old harbour hall, and everybody who had a boat came to see it, some of them twice, until the rain began.</p>`, nil},
		{"GermanSentence", "", `<h2>Vorteile beim <b>Leasing</b> von Firmen</h2>`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+"</div>"+c.end))
			require.Equal(t, c.want, a.Authors)
			if c.want != nil {
				require.Less(t, a.Origins[article.FieldAuthors].Confidence, 0.8)
			}
		})
	}
}

func TestAuthors_CleansNames(t *testing.T) {
	byline := func(s string) string { return `<p class="byline">` + s + `</p>` }
	for _, c := range []struct {
		name, head, top string
		want            []string
	}{
		{"RoleBeforeTheName", "", byline("Lead Reviewer, Mai Lan"), []string{"Mai Lan"}},
		{"ForAPaper", "", byline("By Mai Lan for The Sunday Paper"), []string{"Mai Lan"}},
		{"WhoUpdatedIt", "", `<span itemprop="author">Mai Lan</span><span itemprop="author">Updated by Jo Harper</span>`, []string{"Mai Lan"}},
		{"Weekday", "", byline("Sun"), nil},
		{"UserWithDigits", `<meta name="author" content="delta2018">`, "", []string{"delta2018"}},
		{"NameThatStartsWithDigits", `<meta property="og:site_name" content="98 Buck Social"><meta name="author" content="98 Buck Social">`, "", []string{"98 Buck Social"}},
		{"Staff", `<meta name="author" content="Staff">`, "", []string{"Staff"}},
		{"NameOfAnItem", "", `<div itemprop="author" itemscope><a href="/u"><meta itemprop="name" content="Mai Lan"></a><b>Member since May</b></div>`, []string{"Mai Lan"}},
		{"OtherPostsOfAThread", "", `<div itemscope><span itemprop="author">Mai Lan</span></div><div itemscope><span itemprop="author">Jo Harper</span></div>`, []string{"Mai Lan"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, "<h1>The bridge opens</h1>"+c.top+`<div class="story-text">`+paragraphs(prose(4))+"</div>"))
			require.Equal(t, c.want, a.Authors)
		})
	}
}
