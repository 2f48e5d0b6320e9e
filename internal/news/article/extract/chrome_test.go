package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/extract"
)

// listingPage is a page of products, whose only prose is around them.
func listingPage(around string) extract.Page {
	var menu, products strings.Builder
	for i := range 20 {
		fmt.Fprintf(&menu, `<li><a href="/s/%d">Section %d</a></li>`, i, i)
		fmt.Fprintf(&products,
			`<li class="product"><h3><a href="/p/%d">Sock number %d</a></h3><p>Warm wool for %d winters, in grey and blue.</p><span class="price">$%d.00</span></li>`, i, i, i+2, i+9)
	}
	return page(`<title>Socks - Shop</title>`,
		`<nav><ul>`+menu.String()+`</ul></nav><main><h1>Socks</h1><ul class="products">`+products.String()+
			`</ul></main>`+around)
}

func TestBody_IsNotTheFooterOrAConsentDialog(t *testing.T) {
	text := prose(12)
	legal := paragraphs(text)
	for name, around := range map[string]string{
		"Footer":      `<footer>` + legal + `</footer>`,
		"ContentInfo": `<div role="contentinfo">` + legal + `</div>`,
		"OneTrust":    `<div id="onetrust-consent-sdk"><div class="ot-desc-cntr">` + legal + `</div></div>`,
		"CookieBar":   `<div class="site-cookie-notice">` + legal + `</div>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, listingPage(around))
			require.Contains(t, a.Text, "Warm wool for 7 winters")
			require.NotContains(t, a.Text, text[0])
		})
	}
}

// Class names of a wrapper say that the page has a consent dialog, not that it is one.
func TestBody_InsideAWrapperNamedAsAConsentDialog(t *testing.T) {
	text := prose(6)
	for name, body := range map[string]string{
		"Wrapper": `<div class="page gdpr">` + `<article>` + paragraphs(text) + `</article></div>`,
		"Body":    `<body class="cookie-notice"><article>` + paragraphs(text) + `</article>`,
	} {
		t.Run(name, func(t *testing.T) {
			a := read(t, page(`<title>The bridge opens</title>`, body))
			require.Contains(t, a.Text, text[0])
			require.Contains(t, a.Text, text[5])
		})
	}
}
