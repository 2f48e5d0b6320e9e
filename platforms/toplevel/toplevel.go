// Package toplevel knows the top-level domains by which networks recognize links in texts.
package toplevel

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Listed reports whether ICANN delegates a top-level domain. label is lowercase ASCII. Some,
// such as kh, mm and np, are in the public suffix list only as the wildcard *.kh
// (https://publicsuffix.org/list/), which a name below them matches.
func Listed(label string) bool {
	_, icann := publicsuffix.PublicSuffix("dateline-probe." + label)
	return icann && label != "" && !strings.Contains(label, ".")
}

// ASCII returns a label in the form of the lists: lowercase, with Punycode for other
// scripts. Letters whose lowercase form would be ASCII, such as the Kelvin sign, stay; such
// a label is in no list.
func ASCII(label string) string {
	small := strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); lower > unicode.MaxASCII || r <= unicode.MaxASCII {
			return lower
		}
		return r
	}, label)
	if ascii, err := idna.Punycode.ToASCII(small); err == nil {
		return ascii
	}
	return small
}

// InTwitterText reports whether twitter-text 3.1 lists a top-level domain, which X and
// Mastodon (config/initializers/twitter_regex.rb) use: all that ICANN lists, without later
// additions, and with those that ICANN retired since. label is lowercase ASCII.
func InTwitterText(label string) bool {
	switch label {
	case "amazon", "hotel", "kids", "merck", "music", "spa", "xn--4dbrk0ce", "xn--cckwcxetd", "xn--jlq480n2rg",
		"xn--mgb2ddes", "xn--mgba3a4fra", "xn--mgbai9a5eva00b", "xn--mgberp4a5d4a87g", "xn--mgbqly7c0a67fbc",
		"xn--mgbqly7cvafr", "xn--mgbtf8fl",
		"xn--mix082f", "xn--nnx388a":
		return false
	}
	return Listed(label) || retired(label)
}

// retired reports whether a top-level domain is not in the root zone
// (anymore), but in twitter-text 3.1.
func retired(label string) bool {
	switch label {
	case "abarth", "active", "adac", "afamilycompany", "aigo", "alfaromeo", "an", "avianca", "bananarepublic",
		"bentley", "bl", "blanco", "bnl", "boots", "bq", "budapest", "bugatti", "cancerresearch", "cartier", "caseih",
		"cbs", "ceb", "chloe", "chrysler", "cityeats", "comcast", "cookingchannel", "csc", "dabur", "dodge", "doha",
		"doosan", "duck", "dunlop", "duns", "eh", "epost", "esurance", "etisalat", "everbank", "fiat", "flsmidth",
		"foodnetwork", "frontdoor", "fujixerox", "glade", "goodhands", "guardian", "hgtv", "honeywell", "hoteles",
		"htc", "iinet", "intel", "iselect", "iveco", "iwc", "jcp", "jlc", "kerrylogistics", "kinder", "ladbrokes",
		"lancaster", "lancia", "lancome", "liaison", "linde", "lipsy", "lixil", "loft", "lupin", "macys", "maserati",
		"mcd", "mcdonalds", "meo", "metlife", "mf", "mobily", "montblanc", "mopar", "movistar", "mtpc", "mutual",
		"mutuelle", "nadex", "nationwide", "natura", "newholland", "northwesternmutual", "off", "oldnavy",
		"onyourside", "orientexpress", "pamperedchef", "panerai", "passagens", "piaget", "pramerica", "qvc", "raid", //nolint:misspell // a name
		"redstone", "rightathome", "rmit", "rocher", "sapo", "sca", "scjohnson", "scor", "ses", "shaw", "showtime",
		"shriram", "spiegel", "spreadbetting", "srt", "starhub", "statoil", "swiftcover", "symantec", "telecity",
		"telefonica", "tiffany", "tp", "travelchannel", "uconnect", "um", "vista", "vistaprint", "volkswagen", "vuelos",
		"warman", "xfinity", "xn--3oq18vl8pn36a", "xn--estv75g", "xn--jlq61u9w7b", "xn--kpu716f", "xn--mgbaakc7dvf",
		"xn--mgbb9fbpob", "xn--pbt977c", "xperia",
		"zippo":
		return true
	default:
		return false
	}
}
