package x

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// maxTopLevelLength is the length of the longest non-ASCII top-level domain
// (vermögensberatung).
const maxTopLevelLength = 17

// topLevel returns the length of a top-level domain that twitter-text knows, at
// the start of text, which follows a dot; 0: none. A top-level domain in letters
// must end there: the next character is no ASCII letter or digit, @, + or -.
func topLevel(text []rune) int {
	run := 0
	for run < len(text) && asciiAlnum(text[run]) {
		run++
	}
	if run > 1 && endsTopLevel(text, run) && knownTopLevel(lower(text[:run])) {
		return run
	}
	if n := internationalTopLevel(text, run); n > 0 {
		return n
	}
	if len(text) > 4 && strings.EqualFold(string(text[:4]), "xn--") {
		end := 4
		for end < len(text) && (text[end] == '-' || asciiAlnum(text[end])) {
			end++
		}
		if end > 4 {
			return end
		}
	}
	return 0
}

// internationalTopLevel returns the longest one with non-ASCII letters. The first
// run characters of text are ASCII.
func internationalTopLevel(text []rune, run int) int {
	limit := run
	for limit < len(text) && limit < maxTopLevelLength && inDomain(text[limit]) {
		limit++
	}
	for n := limit; n > run; n-- {
		if !endsTopLevel(text, n) {
			continue
		}
		label, err := idna.Punycode.ToASCII(lower(text[:n]))
		if err == nil && knownTopLevel(label) {
			return n
		}
	}
	return 0
}

// lower keeps letters whose lowercase form would be ASCII.
func lower(text []rune) string {
	return strings.Map(func(r rune) rune {
		if small := unicode.ToLower(r); small > unicode.MaxASCII || r <= unicode.MaxASCII {
			return small
		}
		return r
	}, string(text))
}

func endsTopLevel(text []rune, n int) bool {
	return n == len(text) || !asciiAlnum(text[n]) && text[n] != '@' && text[n] != '+' && text[n] != '-'
}

func asciiAlnum(r rune) bool {
	return r < unicode.MaxASCII && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}

// knownTopLevel reports whether twitter-text 3.1 lists a top-level domain: all
// that ICANN lists, without later additions, and with those that ICANN retired
// since. label is lowercase ASCII.
func knownTopLevel(label string) bool {
	switch label {
	case "amazon", "hotel", "kids", "merck", "music", "spa", "xn--4dbrk0ce", "xn--cckwcxetd", "xn--jlq480n2rg", "xn--mgb2ddes",
		"xn--mgba3a4fra", "xn--mgbai9a5eva00b", "xn--mgberp4a5d4a87g", "xn--mgbqly7c0a67fbc", "xn--mgbqly7cvafr", "xn--mgbtf8fl",
		"xn--mix082f", "xn--nnx388a":
		return false
	}
	_, icann := publicsuffix.PublicSuffix(label)
	return icann || retiredTopLevel(label)
}

// retiredTopLevel reports whether a top-level domain is not in the root zone
// (anymore), but in twitter-text 3.1.
func retiredTopLevel(label string) bool {
	switch label {
	case "abarth", "active", "adac", "afamilycompany", "aigo", "alfaromeo", "an", "avianca", "bananarepublic", "bentley", "bl", "blanco",
		"bnl", "boots", "bq", "budapest", "bugatti", "cancerresearch", "cartier", "caseih", "cbs", "ceb", "chloe", "chrysler", "cityeats",
		"ck", "comcast", "cookingchannel", "csc", "dabur", "dodge", "doha", "doosan", "duck", "dunlop", "duns", "eh", "epost", "er",
		"esurance", "etisalat", "everbank", "fiat", "fk", "flsmidth", "foodnetwork", "frontdoor", "fujixerox", "glade", "goodhands",
		"guardian", "hgtv", "honeywell", "hoteles", "htc", "iinet", "intel", "iselect", "iveco", "iwc", "jcp", "jlc", "jm",
		"kerrylogistics", "kh", "kinder", "ladbrokes", "lancaster", "lancia", "lancome", "liaison", "linde", "lipsy", "lixil", "loft",
		"lupin", "macys", "maserati", "mcd", "mcdonalds", "meo", "metlife", "mf", "mm", "mobily", "montblanc", "mopar", "movistar",
		"mtpc", "mutual", "mutuelle", "nadex", "nationwide", "natura", "newholland", "northwesternmutual", "np", "off", "oldnavy",
		"onyourside", "orientexpress", "pamperedchef", "panerai", "passagens", "pg", "piaget", "pramerica", "qvc", "raid", "redstone", //nolint:misspell // a name
		"rightathome", "rmit", "rocher", "sapo", "sca", "scjohnson", "scor", "ses", "shaw", "showtime", "shriram", "spiegel",
		"spreadbetting", "srt", "starhub", "statoil", "swiftcover", "symantec", "telecity", "telefonica", "tiffany", "tp",
		"travelchannel", "uconnect", "um", "vista", "vistaprint", "volkswagen", "vuelos", "warman", "xfinity", "xn--3oq18vl8pn36a",
		"xn--estv75g", "xn--jlq61u9w7b", "xn--kpu716f", "xn--mgbaakc7dvf", "xn--mgbb9fbpob", "xn--pbt977c", "xperia", "zippo":
		return true
	default:
		return false
	}
}
