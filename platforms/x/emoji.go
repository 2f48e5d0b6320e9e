package x

import (
	"slices"
	"strconv"
	"strings"
)

const (
	joiner            = '\u200D'
	emojiPresentation = '\uFE0F' // selects emoji presentation
	keycap            = '\u20E3'
	male              = '♂'
	female            = '♀'
	arrowRight        = '➡'
)

// needsPresentation lists characters that are an emoji only if FE0F follows
// (Emoji without Emoji_Presentation in Unicode's emoji-data.txt, without those
// below U+0100). allowsPresentation lists other characters that FE0F may follow
// (those in twemoji's list), allowsSkinTone those that skin tones may follow
// (Emoji_Modifier_Base). Unicode 17.
const (
	needsPresentation = "203C 2049 2122 2139 2194-2199 21A9-21AA 2328 23CF 23ED-23EF 23F1-23F2 23F8-23FA 24C2 " +
		"25AA-25AB 25B6 25C0 25FB-25FC " +
		"2600-2604 260E 2611 2618 261D 2620 2622-2623 2626 262A 262E-262F 2638-263A 2640 2642 265F-2660 2663 " +
		"2665-2666 2668 267B 267E 2692 " +
		"2694-2697 2699 269B-269C 26A0 26A7 26B0-26B1 26C8 26CF 26D1 26D3 26E9 26F0-26F1 26F4 26F7-26F9 2702 " +
		"2708-2709 270C-270D 270F 2712 " +
		"2714 2716 271D 2721 2733-2734 2744 2747 2763-2764 27A1 2934-2935 2B05-2B07 3030 303D 3297 3299 1F170-1F171 " +
		"1F17E-1F17F 1F202 1F237 " +
		"1F321 1F324-1F32C 1F336 1F37D 1F396-1F397 1F399-1F39B 1F39E-1F39F 1F3CB-1F3CE 1F3D4-1F3DF 1F3F3 1F3F5 1F3F7 " +
		"1F43F 1F441 1F4FD " +
		"1F549-1F54A 1F56F-1F570 1F573-1F579 1F587 1F58A-1F58D 1F590 1F5A5 1F5A8 1F5B1-1F5B2 1F5BC 1F5C2-1F5C4 " +
		"1F5D1-1F5D3 1F5DC-1F5DE 1F5E1 " +
		"1F5E3 1F5E8 1F5EF 1F5F3 1F5FA 1F6CB 1F6CD-1F6CF 1F6E0-1F6E5 1F6E9 1F6F0 1F6F3"
	allowsPresentation = "231A-231B 25FD-25FE 2614-2615 2648-2653 267F 2693 26A1 26AA-26AB 26BD-26BE 26C4-26C5 26D4 " +
		"26EA 26F2-26F3 26F5 26FA 26FD " +
		"2757 2B1B-2B1C 2B50 2B55 1F004 1F21A 1F22F"
	allowsSkinTone = "261D 26F7 26F9 270A-270D 1F385 1F3C2-1F3C4 1F3C7 1F3CA-1F3CC 1F442-1F443 1F446-1F450 " +
		"1F466-1F478 1F47C 1F481-1F483 " +
		"1F485-1F487 1F48F 1F491 1F4AA 1F574-1F575 1F57A 1F590 1F595-1F596 1F645-1F647 1F64B-1F64F 1F6A3 1F6B4-1F6B6 " +
		"1F6C0 1F6CC 1F90C 1F90F " +
		"1F918-1F91F 1F926 1F930-1F939 1F93C-1F93E 1F977 1F9B5-1F9B6 1F9B8-1F9B9 1F9BB 1F9CD-1F9CF 1F9D1-1F9DD " +
		"1FAC3-1FAC5 1FAF0-1FAF8"
	// genders are the characters that ♂ or ♀ may follow
	// (emoji-zwj-sequences.txt).
	genders = "26F9 1F3C3-1F3C4 1F3CA-1F3CC 1F46E-1F471 1F473 1F477 1F481-1F482 1F486-1F487 1F575 1F645-1F647 1F64B " +
		"1F64D-1F64E 1F6A3 " +
		"1F6B4-1F6B6 1F926 1F935 1F937-1F939 1F93C-1F93E 1F9B8-1F9B9 1F9CD-1F9CF 1F9D4 1F9D6-1F9DF"
	// roles are the characters that make a profession or a hairstyle of a person emoji.
	roles = "2695-2696 2708 1F33E 1F373 1F37C 1F384 1F393 1F3A4 1F3A8 1F3EB 1F3ED 1F4BB-1F4BC 1F527 1F52C 1F680 " +
		"1F692 1F9AF-1F9B3 1F9BC-1F9BD 1FA70"
)

// flags are the region codes that make a flag: ISO 3166-1, and what CLDR adds
// (emoji-sequences.txt).
const flags = "AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT " +
	"BV BW BY BZ CA CC CD CF " +
	"CG CH CI CK CL CM CN CO CP CQ CR CU CV CW CX CY CZ DE DG DJ DK DM DO DZ EA EC EE EG EH ER ES ET EU FI FJ FK FM " +
	"FO FR GA GB GD GE GF GG GH " +
	"GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI " +
	"KM KN KP KR KW KY KZ LA LB " +
	"LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG " +
	"NI NL NO NP NR NU NZ OM PA " +
	"PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV " +
	"SX SY SZ TA TC TD TF TG TH " +
	"TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM UN US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"

// emojiSet detects emoji sequences. It is immutable.
type emojiSet struct{ needsPresentation, allowsPresentation, allowsSkinTone, genders, roles ranges }

func newEmojiSet() *emojiSet {
	return &emojiSet{
		parseRanges(needsPresentation), parseRanges(allowsPresentation), parseRanges(allowsSkinTone),
		parseRanges(genders), parseRanges(roles),
	}
}

// length returns how many characters of text form one emoji of several
// characters; 0: none. The weight of a single character does not depend on it.
// Sequences are those that Unicode recommends, as X's documentation requires
// (Counting Characters): an emoji counts two "regardless of combined modifiers".
func (e *emojiSet) length(text []rune) int {
	if len(text) < 2 {
		return 0
	}
	switch first := text[0]; {
	case first >= 'A' && first < '\u2000' && first != '©' && first != '®':
		return 0 // almost all text
	case first >= '0' && first <= '9', first == '#', first == '*':
		return keycapLength(text)
	case first == '©', first == '®':
		if text[1] == emojiPresentation {
			return 2
		}
		return 0
	case indicator(first):
		if indicator(text[1]) &&
			slices.Contains(strings.Fields(flags), string([]rune{letter(first), letter(text[1])})) {
			return 2
		}
		return 0
	case first == '🏴' && text[1] != joiner:
		return tagsLength(text)
	default:
		return e.sequence(text)
	}
}

func keycapLength(text []rune) int {
	switch {
	case text[1] == keycap:
		return 2
	case text[1] == emojiPresentation && len(text) > 2 && text[2] == keycap:
		return 3
	default:
		return 0
	}
}

func indicator(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func letter(indicator rune) rune { return 'A' + indicator - 0x1F1E6 }

// tagsLength returns the length of the flag of England, Scotland or Wales; 0:
// none.
func tagsLength(text []rune) int {
	var tags strings.Builder
	for i, r := range text[1:] {
		switch {
		case r > 0xE0060 && r <= 0xE007A:
			tags.WriteRune(r - 0xE0000)
		case r == 0xE007F && slices.Contains([]string{"gbeng", "gbsct", "gbwls"}, tags.String()):
			return i + 2
		default:
			return 0
		}
	}
	return 0
}

// sequence returns the length of an emoji with its presentation selector and skin
// tone, and of everything joined to it that forms a known sequence.
func (e *emojiSet) sequence(text []rune) int {
	at := e.element(text)
	length := at
	var joined []rune
	whole := e.isComplete(text[:at])
	for at+1 < len(text) && text[at] == joiner {
		n := e.element(text[at+1:])
		whole = whole && e.isComplete(text[at+1:at+1+n])
		joined = append(joined, text[at+1])
		at += 1 + n
		eye := text[0] == '👁' && joined[0] == '🗨' // twemoji has this one without FE0F
		if (whole || eye) && e.joins(text[0], joined) {
			length = at
		}
	}
	if length < 2 {
		return 0
	}
	return length
}

// element returns the length of one emoji without joined ones.
func (e *emojiSet) element(text []rune) int {
	n, first := 1, text[0]
	if n < len(text) && text[n] == emojiPresentation &&
		(e.needsPresentation.has(first) || e.allowsPresentation.has(first)) {
		n++
	}
	if n < len(text) && text[n] >= 0x1F3FB && text[n] <= 0x1F3FF && e.allowsSkinTone.has(first) {
		n++
	}
	return n
}

// isComplete reports whether an emoji in a sequence has the presentation selector
// that it needs.
func (e *emojiSet) isComplete(element []rune) bool {
	return len(element) > 1 || !e.needsPresentation.has(element[0])
}

// joins reports whether the sequence may be joined to an emoji, ignoring skin
// tones and presentation selectors (emoji-zwj-sequences.txt).
func (e *emojiSet) joins(first rune, joined []rune) bool {
	walks := first == '🧎' || first == '🏃' || first == '🚶'
	if last := len(joined) - 1; joined[last] == arrowRight {
		cane := last == 1 && adult(first) && (joined[0] == '🦯' || joined[0] == '🦼' || joined[0] == '🦽')
		return cane || walks && (last == 0 || last == 1 && (joined[0] == male || joined[0] == female))
	}
	if len(joined) == 1 {
		switch r := joined[0]; {
		case r == male || r == female:
			return e.genders.has(first)
		case adult(first) && e.roles.has(r):
			return true
		}
		return slices.Contains(pairs(), string([]rune{first, joined[0]})) || adult(first) && family(joined)
	}
	if !adult(first) {
		return false
	}
	if with := joined[len(joined)-1]; adult(with) {
		return slices.Contains([]string{"❤", "❤💋", "🤝", "🐰", "🫯"}, string(joined[:len(joined)-1]))
	}
	return family(joined)
}

func adult(r rune) bool { return r == '👨' || r == '👩' || r == '🧑' }

// family reports whether the characters may follow the first adult of a family:
// at most one more adult, and one or two children.
func family(joined []rune) bool {
	if adult(joined[0]) {
		joined = joined[1:]
	}
	for _, r := range joined {
		if r != '👦' && r != '👧' && r != '🧒' {
			return false
		}
	}
	return len(joined) == 1 || len(joined) == 2
}

func pairs() []string {
	return strings.Fields("🐦⬛ 🐈⬛ ❤🔥 🐦🔥 ⛓💥 🍄🟫 👁🗨 😮💨 😶🌫 😵💫 🫱🫲 🙂↔ 🙂↕ 🍋🟩 ❤🩹 🏴☠ 🐻❄ 🏳🌈 🏳⚧ 🐕🦺")
}

// ranges are pairs of first and last characters, in order.
type ranges []rune

func parseRanges(list string) ranges {
	var r ranges
	for entry := range strings.FieldsSeq(list) {
		first, last, isRange := strings.Cut(entry, "-")
		if !isRange {
			last = first
		}
		r = append(r, parseHex(first), parseHex(last))
	}
	return r
}

func parseHex(digits string) rune {
	n, err := strconv.ParseInt(digits, 16, 32)
	if err != nil {
		return -1 // of none of the lists above
	}
	return rune(n)
}

func (r ranges) has(c rune) bool {
	i, found := slices.BinarySearch(r, c)
	return found || i%2 == 1
}
