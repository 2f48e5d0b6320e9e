package dates

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

type parser struct {
	tokens []token
	opts   Options
}

func (p *parser) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{number: -1}
	}
	return p.tokens[i]
}

func (p *parser) num(i int) int { return p.at(i).number }

func (p *parser) is(i int, words ...string) bool {
	for _, w := range words {
		if p.at(i).text == w {
			return true
		}
	}
	return false
}

// absolute parses a day and a time of day and zone next to it.
func (p *parser) absolute() (Date, bool) {
	y, m, d, from, to, ok := p.day()
	if !ok {
		return Date{}, false
	}
	m, d = p.order(from, y, m, d)
	hour, minute, second, clock, end := p.clock(from, to)
	zone, zoned := p.opts.Zone, false
	if clock {
		if z, ok := p.zone(time.Date(y, time.Month(m), d, 12, 0, 0, 0, p.opts.Zone), end, from, to); ok {
			zone, zoned = z, true
		}
	}
	t := time.Date(y, time.Month(m), d, hour, minute, second, 0, zone)
	if !clock {
		t = startOfDay(t, d)
	}
	if t.Day() != d || !plausible(t) {
		return Date{}, false
	}
	return Date{Time: t.UTC(), Zone: t.Location(), HasTime: clock, HasZone: zoned}, true
}

// startOfDay returns the first hour of a day, given its midnight: where summer time begins at midnight, that does not
// exist, and time.Date may return an hour of the day before.
func startOfDay(midnight time.Time, day int) time.Time {
	if later := midnight.Add(time.Hour); midnight.Hour() == 23 && later.Day() == day {
		return later
	}
	return midnight
}

// order returns the month and day of a numeric day that can be read in both orders. The
// weekday decides if the text names it; otherwise a reading in the future yields to the
// other one.
func (p *parser) order(from, y, m, d int) (month, dayOfMonth int) {
	if p.at(from).digits > 2 || p.num(from) < 0 || !p.is(from+1, "/", "-", ".", "|") || p.num(from+2) < 0 || d > 12 ||
		d == m {
		return m, d
	}
	is, other := time.Date(y, time.Month(m), d, 0, 0, 0, 0, p.opts.Zone), time.Date(y, time.Month(d), m, 0, 0, 0, 0,
		p.opts.Zone)
	if w, ok := p.weekday(); ok && (is.Weekday() == w) != (other.Weekday() == w) {
		if other.Weekday() == w {
			return d, m
		}
		return m, d
	}
	if future := p.opts.Now.Add(day); !p.opts.Now.IsZero() && is.After(future) && !other.After(future) {
		return d, m
	}
	return m, d
}

// day finds the first day in the text and the range of its tokens.
func (p *parser) day() (y, m, d, from, to int, ok bool) {
	for i := range p.tokens {
		if y, m, d, to, ok = p.numericDay(i); ok {
			return y, m, d, i, to, true
		}
		if y, m, d, to, ok = p.vietnameseDay(i); ok {
			return y, m, d, i, to, true
		}
		if y, m, d, to, ok = p.namedDay(i); ok {
			return y, m, d, i, to, true
		}
		if y, m, d, to, ok = p.eastAsianDay(i); ok {
			return y, m, d, i, to, true
		}
	}
	return 0, 0, 0, 0, 0, false
}

// numericDay parses 7/3/2026, 07-03-2026, 7.3.2026, 07 | 03 | 2026 and 2026/3/7.
func (p *parser) numericDay(i int) (y, m, d, to int, ok bool) {
	a, b, c := p.num(i), p.num(i+2), p.num(i+4)
	sep := p.at(i + 1).text
	if a < 0 || b < 0 || c < 0 {
		return 0, 0, 0, 0, false
	}
	if sep != p.at(i+3).text || !p.is(i+1, "/", "-", ".") && (sep != "|" || p.at(i+4).digits != 4) {
		return 0, 0, 0, 0, false
	}
	switch {
	case p.at(i).digits == 4:
		y, m, d = a, b, c
	case p.at(i+4).digits == 4:
		y, m, d = gregorian(c), b, a
	case p.at(i+4).digits == 2 && p.at(i).digits <= 2:
		y, m, d = century(c), b, a
	}
	if p.at(i).digits != 4 && (p.opts.MonthFirst && a <= 12 || b > 12) {
		m, d = d, m
	}
	return y, m, d, i + 5, valid(y, m, d)
}

// vietnameseDay parses "ngày 7 tháng 3 năm 2026", "7 thg 3, 2026", "7/3 năm 2026", and
// the formats of WordPress in Vietnamese: "Tháng Ba 7, 2026" and "07-Th3-2026".
func (p *parser) vietnameseDay(i int) (y, m, d, to int, ok bool) {
	var k int
	if m, k = p.vietnameseMonth(i); m > 0 {
		k = p.skip(k, ",", "ngày")
		d = p.num(k)
		if p.at(k).digits > 2 {
			return 0, 0, 0, 0, false
		}
		k++
	} else if d = p.num(i); d >= 0 && p.at(i).digits <= 2 {
		named := false
		k = p.skip(i+1, ".", ",", "-", "/")
		if m, k = p.vietnameseMonth(k); m > 0 {
			named = true
		} else if p.is(i+1, "/", "-") {
			m, k = p.num(i+2), i+3
		}
		if !named && !p.is(k, "năm") {
			return 0, 0, 0, 0, false
		}
	} else if y = p.num(i); p.at(i).digits == 4 { // năm 2026 tháng 3 ngày 7
		if m, k = p.vietnameseMonth(p.skip(i+1, ",")); m == 0 || !p.is(k, "ngày") {
			return 0, 0, 0, 0, false
		}
		d = p.num(k + 1)
		return y, m, d, k + 2, valid(y, m, d)
	}
	sep := p.is(k, "/", "-")
	k = p.skip(k, ",", ".", "/", "-", "năm")
	if y = p.num(k); sep && p.at(k).digits == 2 {
		y = century(y)
	}
	return y, m, d, k + 1, valid(y, m, d) && !p.isLunar(k+1)
}

// vietnameseMonth parses "tháng 3", "thg 3", "Th3" and the names of months, which may
// have two words, and returns the token after it.
func (p *parser) vietnameseMonth(i int) (m, end int) {
	end = i + 1
	switch {
	case p.is(i, "tháng", "thg", "thang"):
		end = p.skip(end, ".")
	case p.is(i, "th") && !p.at(end).afterSpace: // "Th 5" is Thursday
	default:
		return 0, i
	}
	if p.at(end).digits > 2 {
		return 0, i
	}
	if m = p.num(end); m >= 0 {
		return m, end + 1
	}
	if p.is(i, "th") {
		return 0, i
	}
	if p.is(end, "mười") && p.is(end+1, "một", "hai") {
		return 10 + vietnameseNumber(p.at(end+1).text), end + 2
	}
	return vietnameseNumber(p.at(end).text), end + 1
}

// isLunar reports whether a day is followed by the name of the lunar calendar.
func (p *parser) isLunar(i int) bool {
	i = p.skip(i, "(", ",")
	return p.is(i, "âm") && p.is(i+1, "lịch") || p.is(i, "al", "âl")
}

// namedDay parses "November 18, 2019", "Nov. 18 2019", "18 Nov 2019" and "18th of
// November, 2019".
func (p *parser) namedDay(i int) (y, m, d, to int, ok bool) {
	if m = month(p.at(i).text); m > 0 {
		k := p.skip(i+1, ".")
		d = p.num(k)
		k = p.skip(k+1, "st", "nd", "rd", "th", ",", "'")
		if y = gregorian(p.num(k)); !valid(y, m, d) || p.is(k+1, ":") {
			// Unix format, Mar 7 10:00:00 +0700 2026: the time is before the year.
			return p.yearAfterClock(k), m, d, k, valid(p.yearAfterClock(k), m, d)
		}
		return y, m, d, k + 1, true
	}
	if p.at(i).digits == 4 { // 2026 Mar 7, 2026. március 7.
		k := p.skip(i+1, ".", ",")
		m, y, d = month(p.at(k).text), p.num(i), p.num(k+1)
		return y, m, d, k + 2, p.at(k+1).digits <= 2 && valid(y, m, d)
	}
	if d = p.num(i); d > 0 && d < 32 {
		k := p.skip(i+1, "st", "nd", "rd", "th", "of", ".", "-", "de", "/", "er", "ta", "º")
		if m = month(p.at(k).text); m > 0 {
			if p.is(k, "listopada") && p.is(i+1, ".") { // October in Croatian, which has a dot; November in Polish
				m = 10
			}
			k = p.skip(k+1, ".", ",", "،", "-", "de", "/")
			if month(p.at(k).text) == m { // both names, as Arab papers write: 7 آذار / مارس 2026
				k = p.skip(k+1, ",")
			}
			y = gregorian(p.num(k))
			switch {
			case p.at(k).digits == 2 && isThai(p.at(i+1).text):
				y = gregorian(2500 + y)
			case p.at(k).digits == 2:
				y = century(y)
			}
			return y, m, d, k + 1, valid(y, m, d)
		}
	}
	return 0, 0, 0, 0, false
}

// eastAsianDay parses 2026年3月7日, 2026년 3월 7일 and 令和8年3月7日, in the era that began in 2019.
func (p *parser) eastAsianDay(i int) (y, m, d, to int, ok bool) {
	if !p.is(i+1, "年", "년") || !p.is(i+3, "月", "월") || !p.is(i+5, "日", "일") {
		return 0, 0, 0, 0, false
	}
	y, m, d = p.num(i), p.num(i+2), p.num(i+4)
	if p.is(i-1, "令和") {
		y += 2018
	}
	return y, m, d, i + 6, valid(y, m, d)
}

// yearAfterClock finds the year after a time of day and its zone.
func (p *parser) yearAfterClock(i int) int {
	_, _, _, end, ok := p.clockAt(i)
	if !ok {
		return -1
	}
	for k := end; k < end+5; k++ {
		if p.at(k).digits == 4 && p.at(k).afterSpace {
			return p.num(k)
		}
	}
	return -1
}

// gregorian converts a year of the Buddhist era, in which Thai pages count: 2569 is 2026.
func gregorian(y int) int {
	if y >= 2443 && y <= 2643 {
		return y - 543
	}
	return y
}

// century expands a two-digit year as in RFC 5322 §4.3.
func century(y int) int {
	if y < 50 {
		return 2000 + y
	}
	return 1900 + y
}

func (p *parser) skip(i int, words ...string) int {
	for p.is(i, words...) {
		i++
	}
	return i
}

func valid(y, m, d int) bool { return y >= 1900 && y <= 2200 && m >= 1 && m <= 12 && d >= 1 && d <= 31 }

// clock finds a time of day outside the tokens of the day. A time after the day is
// preferred, unless it is the time of an update: "07/03/2026 08:07, updated 09:10" is
// 08:07.
func (p *parser) clock(from, to int) (h, m, s int, ok bool, end int) {
	for i := to; i < len(p.tokens); i++ {
		if p.is(i, "updated", "update", "cập", "modified", "edited", "revised") {
			break
		}
		if h, m, s, end, ok = p.clockAt(i); ok {
			return h, m, s, true, end
		}
	}
	for i := range from {
		if h, m, s, end, ok = p.clockAt(i); ok && end <= from {
			return h, m, s, true, end
		}
	}
	return 0, 0, 0, false, 0
}

// clockAt parses 10:00, 10:00:30, 10h00, 10 giờ 30, 9 a.m., 12:05 pm and 9 giờ rưỡi tối.
func (p *parser) clockAt(i int) (h, m, s, end int, ok bool) {
	h = p.num(i)
	if h < 0 || h > 24 || p.at(i).digits > 2 ||
		!p.at(i).afterSpace && p.num(i-2) >= 0 && p.is(i-1, "/", "-", "+", ":", ".") {
		return 0, 0, 0, 0, false
	}
	end = i + 1
	switch {
	case p.is(end, ":", "h", "giờ", "g") && p.at(end+1).digits == 2 && p.num(end+1) < 60:
		colon := p.is(end, ":")
		m = p.num(end + 1)
		end += 2
		if d := p.at(end + 1).digits; colon && p.is(end, ":") && d > 0 && d <= 2 {
			s = p.num(end + 1)
			end += 2
			if p.is(end, ".") && p.at(end+1).digits > 2 && !p.at(end+1).afterSpace { // fractions of a second
				end += 2
			}
		}
		if p.is(end, "phút") {
			end++
		}
		ok = true
	case p.is(end, ".") && p.at(end+1).digits == 2 && p.num(end+1) < 60 && p.is(end+2, "am", "pm", "a", "p", "น"):
		m, end, ok = p.num(end+1), end+2, true
	case p.is(end, "時", "时", "点", "點", "시") && p.num(end+1) >= 0 && p.num(end+1) < 60 &&
		p.is(end+2, "分", "분"):
		m, end, ok = p.num(end+1), end+3, true
	case p.is(end, "h", "giờ", "時", "时", "点", "點", "시"):
		end++
		if p.is(end, "rưỡi") {
			m = 30
			end++
		}
		ok = true
	}
	if hour, after := p.partOfDay(end, h); after > end {
		return hour, m, s, after, (ok || h >= 1 && h <= 12) && hour < 24
	}
	if hour, after := p.partOfDay(i-1, h); after == i && p.at(i-2).digits != 4 { // PM 2:26, tối 8:00; not 2026 م 2:26
		h = hour
	}
	return h, m, s, end, ok && h < 24
}

// partOfDay parses what stands next to an hour from 1 to 12 and returns the hour from 0 to 23:
// am and pm in English and Vietnamese, and the parts of a day in which Vietnamese counts
// hours. The night is from 21:00 to 4:00, as in the dayPeriods of vi in CLDR 48; people
// also say đêm until dawn.
func (p *parser) partOfDay(i, h int) (hour, end int) {
	pm := func(isPM bool) int {
		switch {
		case h < 1 || h > 12:
			return h
		case isPM:
			return h%12 + 12
		}
		return h % 12
	}
	i = p.skip(i, "buổi", "rạng", "nửa")
	switch {
	case p.is(i, "am", "sa", "sáng", "midnight", "上午", "午前", "오전", "ص", "صباحا", "صباحًا"):
		return pm(false), i + 1
	case p.is(i, "pm", "ch", "chiều", "noon", "下午", "午後", "오후", "م", "مساء", "مساءً"):
		return pm(true), i + 1
	case p.is(i, "tối"):
		return pm(h != 12), i + 1
	case p.is(i, "trưa"):
		return pm(h < 10 || h == 12), i + 1
	case p.is(i, "đêm", "khuya"):
		return pm(h > 5 && h != 12), i + 1
	case p.is(i, "a", "p") && p.is(i+1, ".") && p.is(i+2, "m"):
		return pm(p.is(i, "p")), p.skip(i+3, ".")
	}
	return h, 0
}

// month returns the number of a month in the languages of news pages; 0: none.
func month(w string) int {
	switch strings.TrimPrefix(w, "ב") { // "in" in Hebrew
	case "january", "jan", "janeiro", "januar", "jänner", "jän", "janvier", "janv", "enero", "ene", "gennaio", "gen",
		"januari", "stycznia", "styczeń", "sty", "января", "январь", "янв", "ocak", "oca", "ledna", "január",
		"ianuarie", "tammikuuta", "ιανουαρίου", "січня", "leden", "siječnja",
		"يناير", "جانفي", "ינואר", "ژانویه", "जनवरी", "জানুয়ারি", "জানুয়ারী", "มกราคม", "януари", "јануар",
		"gener":
		return 1
	case "february", "feb", "fevereiro", "fev", "februar", "feber", "février", "fevrier", "févr", "fév", "febrero",
		"febbraio", "februari", "lutego", "luty", "lut", "февраля", "февраль", "фев", "şubat", "şub", "února",
		"február", "februarie", "helmikuuta", "φεβρουαρίου", "лютого", "únor",
		"فبراير", "فيفري", "شباط", "פברואר", "فوریه", "फरवरी", "फ़रवरी", "ফেব্রুয়ারি", "ফেব্রুয়ারী",
		"กุมภาพันธ์", "февруари", "фебруар", "febrer", "veljače":
		return 2
	case "march", "mar", "março", "märz", "mrz", "maerz", "mär", "mars", "marzo", "maart", "mrt", "marca", "marzec",
		"марта", "март", "mart", "března", "březen", "maaliskuuta", "martie", "március", "μαρτίου", "березня",
		"مارس", "آذار", "מרץ", "मार्च", "মার্চ", "มีนาคม", "marts", "ožujka":
		return 3
	case "april", "apr", "abril", "abr", "avril", "avr", "aprile", "aprilie", "kwietnia", "kwiecień", "kwi", "апреля",
		"апрель", "апр", "nisan", "nis", "dubna", "huhtikuuta", "április", "απριλίου", "квітня", "duben",
		"أبريل", "ابريل", "إبريل", "أفريل", "نيسان", "אפריל", "آوریل", "अप्रैल", "এপ্রিল", "เมษายน", "април",
		"travnja":
		return 4
	case "may", "maio", "mai", "mayo", "maggio", "mag", "mei", "maja", "maj", "мая", "май", "mayıs", "května", "květen",
		"toukokuuta", "május", "μαΐου", "травня",
		"مايو", "ماي", "أيار", "מאי", "مه", "मई", "মে", "พฤษภาคม", "мај", "maig", "svibnja":
		return 5
	case "june", "jun", "junho", "juni", "juin", "junio", "giugno", "giu", "iunie", "czerwca", "czerwiec", "cze",
		"июня", "июнь", "июн", "haziran", "haz", "června", "červen", "kesäkuuta", "június", "ιουνίου", "червня",
		"يونيو", "يونيه", "جوان", "حزيران", "יוני", "ژوئن", "जून", "জুন", "มิถุนายน", "юни", "јун", "juny",
		"lipnja":
		return 6
	case "july", "jul", "julho", "juli", "juillet", "juil", "julio", "luglio", "lug", "iulie", "lipca", "lipiec", "lip",
		"июля", "июль", "июл", "temmuz", "tem", "července", "červenec", "heinäkuuta", "július", "ιουλίου", "липня",
		"يوليو", "يوليه", "جويلية", "تموز", "יולי", "ژوئیه", "जुलाई", "জুলাই", "กรกฎาคม", "юли", "јул",
		"juliol", "srpnja":
		return 7
	case "august", "aug", "agosto", "ago", "août", "aout", "augustus", "augusti", "sierpnia", "sierpień", "sie",
		"августа", "август", "авг", "ağustos", "ağu", "srpna", "srpen", "elokuuta", "augusztus", "αυγούστου", "серпня",
		"أغسطس", "اغسطس", "أوت", "آب", "אוגוסט", "اوت", "अगस्त", "আগস্ট", "สิงหาคม", "agustus", "ogos",
		"kolovoza":
		return 8
	case "september", "sep", "sept", "setembro", "set", "septembre", "septiembre", "settembre", "septembrie",
		"września", "wrzesień", "wrz", "сентября", "сентябрь", "сен", "сент", "eylül", "eyl", "září", "syyskuuta",
		"szeptember", "σεπτεμβρίου", "вересня",
		"سبتمبر", "أيلول", "ספטמבר", "سپتامبر", "सितंबर", "सितम्बर", "সেপ্টেম্বর", "กันยายน", "септември",
		"септембар", "setembre", "rujna":
		return 9
	case "october", "oct", "outubro", "out", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "octombrie",
		"października", "październik", "paź", "октября", "октябрь", "окт", "ekim", "eki", "října", "říjen", "lokakuuta",
		"október", "οκτωβρίου", "жовтня",
		"أكتوبر", "اكتوبر", "אוקטובר", "اکتبر", "अक्टूबर", "अक्तूबर", "অক্টোবর", "ตุลาคม", "октомври",
		"октобар":
		return 10
	case "november", "nov", "novembro", "novembre", "noviembre", "noiembrie", "listopada", "listopad", "lis", "ноября",
		"ноябрь", "ноя", "kasım", "kas", "listopadu", "marraskuuta", "νοεμβρίου", "листопада",
		"نوفمبر", "נובמבר", "نوامبر", "नवंबर", "नवम्बर", "নভেম্বর", "พฤศจิกายน", "ноември", "новембар",
		"studenoga", "studenog":
		return 11
	case "december", "dec", "dezembro", "dez", "dezember", "décembre", "decembre", "déc", "diciembre", "dic",
		"dicembre", "decembrie", "grudnia", "grudzień", "gru", "декабря", "декабрь", "дек", "aralık", "ara", "prosince",
		"prosinec", "joulukuuta", "δεκεμβρίου", "грудня",
		"ديسمبر", "דצמבר", "دسامبر", "दिसंबर", "दिसम्बर", "ডিসেম্বর", "ธันวาคม", "декември", "децембар",
		"desember", "disember", "desembre":
		return 12
	}
	return 0
}

// token is a number, a lowercase word, or a symbol.
type token struct {
	text       string // in lower case
	raw        string
	number     int // value of a number, else -1
	digits     int
	afterSpace bool // preceded by white space
}

// maxTokens limits the tokens of a text.
const maxTokens = 60

// tokenize appends the tokens of a text.
func tokenize(out []token, s string) []token {
	spaced := false
	for i := 0; i < len(s) && len(out) < maxTokens; {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		t := token{number: -1, afterSpace: spaced}
		switch {
		case unicode.IsSpace(r):
			spaced = true
			i = end
			continue
		case r >= '0' && r <= '9':
			t.number = 0
			for end = i; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
				if t.number < 1e8 {
					t.number = t.number*10 + int(s[end]-'0')
				}
			}
			t.text, t.digits = s[i:end], end-i
		case unicode.IsLetter(r):
			isUnit := len(out) > 0 && out[len(out)-1].number >= 0 && strings.ContainsRune("年月日時时点點分秒년월일시분초", r)
			for end < len(s) && !isUnit { // 2026年3月7日午前9時
				r, size = utf8.DecodeRuneInString(s[end:])
				if !unicode.IsLetter(r) && !unicode.IsMark(r) {
					break
				}
				end += size
			}
			t.text = strings.ToLower(s[i:end])
		default:
			t.text = s[i:end]
		}
		t.raw = s[i:end]
		out = append(out, t)
		spaced = false
		i = end
	}
	return out
}
