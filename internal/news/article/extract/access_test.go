package extract_test

import (
	"net/textproto"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article"
)

func TestAccess_FromTheStatementsOfThePage(t *testing.T) {
	body := `<article><h1>The bridge opens</h1>` + paragraphs(prose(6)) + `</article>`
	for _, c := range []struct {
		name, head string
		want       article.Access
	}{
		{"Silent", "", article.AccessUnknown},
		{
			"Free",
			`<script type="application/ld+json">{"@type":"NewsArticle","headline":"x","isAccessibleForFree":true}</script>`, article.AccessFree,
		},
		{
			"Text",
			`<script type="application/ld+json">{"@type":"NewsArticle","headline":"x","isAccessibleForFree":"False"}</script>`, article.AccessPaid,
		},
		{
			"Part",
			`<script type="application/ld+json">{"@type":"NewsArticle","headline":"x","hasPart":{"@type":"WebPageElement","isAccessibleForFree":false,"cssSelector":".paid"}}</script>`, article.AccessPaid,
		},
		{"Metered", `<meta property="article:content_tier" content="metered">`, article.AccessMetered},
		{
			"TierFirst",
			`<meta property="article:content_tier" content="locked"><script type="application/ld+json">{"@type":"NewsArticle","headline":"x","isAccessibleForFree":true}</script>`, article.AccessPaid,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(t, page(c.head, body))
			require.Equal(t, c.want, a.Access)
			require.Equal(t, c.want != article.AccessUnknown, a.Has(article.FieldAccess))
		})
	}
}

func TestReservations_FromRobotsAndTDM(t *testing.T) {
	body := `<article><h1>The bridge opens</h1>` + paragraphs(prose(6)) + `</article>`
	a := read(t,
		page(
			`<meta name="robots" content="NoIndex, nosnippet, noai"><meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://www.paper.example/tdm.json">`, body))
	require.Equal(t, article.Reservations{
		NoIndex: true, NoSnippet: true, NoAI: true, TDM: true,
		TDMPolicy: "https://www.paper.example/tdm.json",
	}, a.Reservations)
	require.Zero(t,
		read(t,
			page(
				`<meta name="robots" content="index, follow, max-image-preview:large"><meta name="tdm-reservation" content="0">`, body)).Reservations)
}

func TestReservations_FromHeaders(t *testing.T) {
	body := `<article><h1>The bridge opens</h1>` + paragraphs(prose(6)) + `</article>`
	for _, c := range []struct {
		name   string
		header textproto.MIMEHeader
		head   string
		want   article.Reservations
	}{
		{"Robots", textproto.MIMEHeader{"X-Robots-Tag": {"noarchive, max-snippet: 0"}}, "", article.Reservations{
			NoArchive: true, NoSnippet: true,
		}},
		{
			"OtherAgent", textproto.MIMEHeader{"X-Robots-Tag": {
				"otherbot: noindex", "dateline: noai",
				"unavailable_after: 25 Jun 2030 15:00:00 PST",
			}}, "", article.Reservations{NoAI: true},
		},
		{
			"HeaderAndPage",
			textproto.MIMEHeader{"X-Robots-Tag": {"noindex"}},
			`<meta name="robots" content="noarchive">`,
			article.Reservations{NoIndex: true, NoArchive: true},
		},
		{
			"TDM",
			textproto.MIMEHeader{"Tdm-Reservation": {"1"}, "Tdm-Policy": {"/policy.json"}},
			"",
			article.Reservations{TDM: true, TDMPolicy: "https://www.paper.example/policy.json"},
		},
		{
			"PageOverridesTDM",
			textproto.MIMEHeader{"Tdm-Reservation": {"1"}},
			`<meta name="tdm-reservation" content="0">`,
			article.Reservations{},
		},
		{
			"SiteTDM",
			textproto.MIMEHeader{article.SiteTDMReservation: {"1"}, article.SiteTDMPolicy: {"/site.json"}},
			"",
			article.Reservations{TDM: true, TDMPolicy: "https://www.paper.example/site.json"},
		},
		{
			"HeaderOverridesSiteTDM",
			textproto.MIMEHeader{article.SiteTDMReservation: {"1"}, "Tdm-Reservation": {"0"}},
			"",
			article.Reservations{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := page(c.head, body)
			p.Header = c.header
			require.Equal(t, c.want, read(t, p).Reservations)
		})
	}
}
