package timetext

import (
	"regexp"
	"time"
)

// The words, as fold returns them. Go's regular expressions have no lookahead: notBefore
// lists the bytes that must not follow a match.

const (
	digits             = "0123456789"
	letters            = "abcdefghijklmnopqrstuvwxyz"
	monthAbbreviations = "jan feb mar apr may jun jul aug sep oct nov dec"
	monthNames         = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`
)

var (
	relativeForms = []*regexp.Regexp{ //nolint:gochecknoglobals // compiled once
		regexp.MustCompile(`\bin (\d+|half an?|an?) ?(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)\b`),
		regexp.MustCompile(`\bsau (\d+|mot|nua) (phut|gio|tieng|ngay|tuan)\b`),
		regexp.MustCompile(`\b(\d+|mot|nua) (phut|gio|tieng|ngay|tuan) (?:nua|sau)\b`),
	}
	isoDate = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})(?:t|\b)`)

	dayParts = []dayPart{ //nolint:gochecknoglobals // compiled once
		{pattern: regexp.MustCompile(`\b(?:morning|buoi sang|sang)\b`), usual: "09:00"},
		{pattern: regexp.MustCompile(`\b(?:noon|buoi trua|trua)\b`), usual: "12:00", isAfternoon: true, isNoon: true},
		{pattern: regexp.MustCompile(`\b(?:afternoon|buoi chieu|chieu)\b`), usual: "15:00", isAfternoon: true},
		{pattern: regexp.MustCompile(`\b(?:evening|buoi toi|toi)\b`), usual: "19:00", isAfternoon: true},
		{pattern: regexp.MustCompile(`\b(?:tonight|night|dem)\b`), usual: "20:00", isAfternoon: true, isNight: true},
	}
	midnight         = regexp.MustCompile(`\bmidnight\b|\bnua dem\b`)
	dayAfterTomorrow = regexp.MustCompile(`\b(?:the )?(?:day after tomorrow|ngay kia|ngay ngaykia|ngaykia|ngay mot)\b`)
	tomorrow         = regexp.MustCompile(`\b(?:tomorrow|tmr|ngay mai|mai)\b`)
	today            = regexp.MustCompile(`\b(?:today|hom nay|nay)\b`)
	nextWeek         = regexp.MustCompile(`\b(?:next week|tuan (?:sau|toi))\b`)
	next             = regexp.MustCompile(`\bnext\b`)
	fillers          = regexp.MustCompile(`\b(?:at|on|this|the|in|luc|vao|ngay|buoi|gio|by|t)\b ?`)

	// Thursday is last: "thu sau", typed without diacritics, is Friday.
	weekdays = []struct { //nolint:gochecknoglobals // compiled once
		day     time.Weekday
		pattern *regexp.Regexp
	}{
		{time.Monday, regexp.MustCompile(`\b(?:mon(?:day)?|weekday (?:hai|2)|thu hai|t2)\b`)},
		{time.Tuesday, regexp.MustCompile(`\b(?:tue(?:s(?:day)?)?|weekday (?:ba|3)|thu ba|t3)\b`)},
		{time.Wednesday, regexp.MustCompile(`\b(?:wed(?:nesday)?|weekday (?:tu|4)|thu tu|t4)\b`)},
		{time.Friday, regexp.MustCompile(`\b(?:fri(?:day)?|weekday (?:sau|6)|thu sau|t6)\b`)},
		{time.Saturday, regexp.MustCompile(`\b(?:sat(?:urday)?|weekday (?:bay|7)|thu bay|t7)\b`)},
		{time.Sunday, regexp.MustCompile(`\b(?:sun(?:day)?|chu nhat|cn)\b`)},
		{time.Thursday, regexp.MustCompile(`\b(?:weekday (?:nam|5)|thu nam|thu(?:rs(?:day)?)?|t5)\b`)},
	}

	dateForms = []struct { //nolint:gochecknoglobals // compiled once
		pattern          *regexp.Regexp
		notBefore        string
		year, month, day int // groups
	}{
		{regexp.MustCompile(`\b(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}|\d{2}))?`), digits + ":h", 3, 2, 1},
		{regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?(` + monthNames + `)\b(?: (\d{4}))?`), "", 3, 2, 1},
		{regexp.MustCompile(`\b(` + monthNames + `) (\d{1,2})(?:st|nd|rd|th)?\b(?: (\d{4}))?`), ":" + digits, 3, 1, 2},
		{regexp.MustCompile(`\b(?:ngay )?(\d{1,2}) thang (\d{1,2})(?: (?:nam )?(\d{4}))?\b`), "", 3, 2, 1},
	}

	clockForms = []struct { //nolint:gochecknoglobals // compiled once
		pattern   *regexp.Regexp
		notBefore string
	}{
		{regexp.MustCompile(`\b(\d{1,2})(?::(\d{2}))? ?(am|pm)\b`), ""},
		{regexp.MustCompile(`\b(\d{1,2}):(\d{2})(?::\d{2})?`), digits},
		{regexp.MustCompile(`\b(\d{1,2}) ?(?:h|gio|g)(?: ?(\d{1,2}|ruoi)(?: phut)?)?`), letters + digits},
		{regexp.MustCompile(`(?:\bat |\bluc |\bvao |^|\s)(\d{1,2})(?:$|\s)`), ""},
	}
)
