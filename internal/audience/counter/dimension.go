package counter

import "strings"

// Other is the value that rare or unknown values of a dimension are counted under.
const Other = "other"

// Limits on the dimension values of a page.
const (
	maxReferrerLength = 60 // bytes; longer ones are truncated at the front
	maxReasonLength   = 32
	// maxVisitValueLength is the maximum length of a visit's dimension value in bytes.
	maxVisitValueLength = 100
	maxReferrers        = 50 // of a page; temporarily up to twice as many
	maxReasons          = 20
)

// countries lists the codes of ISO 3166-1 alpha-2.
const countries = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS " +
	"BT BV BW BY BZ " +
	"CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO " +
	"FR GA GB GD GE " +
	"GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG " +
	"KH KI KM KN KP " +
	"KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY " +
	"MZ NA NC NE NF " +
	"NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI " +
	"SJ SK SL SM SN " +
	"SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU " +
	"WF WS YE YT ZA ZM ZW"

// normalizeCountry returns a listed code, Other, or "".
func normalizeCountry(s string) string {
	if s == "" {
		return ""
	}
	if len(s) == 2 {
		s = strings.ToUpper(s)
		if i := strings.Index(countries, s); i >= 0 && i%3 == 0 {
			return s
		}
	}
	return Other
}

func normalizeDevice(s string) string {
	switch s {
	case "", "desktop", "mobile", "tablet":
		return s
	}
	return Other
}

// normalizeReferrer returns a host in lower case. Long ones are truncated at
// the front because the end identifies the site.
func normalizeReferrer(s string) string {
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if len(s) > maxReferrerLength {
		s = s[len(s)-maxReferrerLength:]
	}
	return s
}

// truncateValue limits the length of a visit's dimension value.
func truncateValue(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxVisitValueLength)], "")
}

func normalizeReason(s string) string {
	if s == "" {
		return Other
	}
	return s[:min(len(s), maxReasonLength)]
}

// deviceCode returns the letter of a device in the log; 0 if unknown.
func deviceCode(device string) byte {
	if device == "" {
		return 0
	}
	return device[0]
}

// deviceFromCode returns the device of a letter in the log or in a page's hash.
func deviceFromCode(letter byte) string {
	switch letter {
	case 'd':
		return "desktop"
	case 'm':
		return "mobile"
	case 't':
		return "tablet"
	}
	return Other
}
