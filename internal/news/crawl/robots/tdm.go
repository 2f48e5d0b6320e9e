package robots

import (
	"bytes"
	"encoding/json"
	"strings"
)

// TDMPath is where a site reserves its rights to text and data mining
// (https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240202/).
const TDMPath = "/.well-known/tdmrep.json"

// maxTDMRules limits the rules of a tdmrep.json.
const maxTDMRules = 10_000

// TDMRule says whether text and data mining is reserved for the paths of a pattern.
type TDMRule struct {
	Reserved bool
	Policy   string // address of the conditions; may be empty

	pattern string
}

// TDMRules are the rules of a tdmrep.json, in its order.
type TDMRules []TDMRule

// ParseTDM parses a tdmrep.json. Rules without a location or a reservation, and files
// that are no list of rules, are ignored.
func ParseTDM(body []byte) TDMRules {
	var list []struct {
		Location    string          `json:"location"`
		Reservation json.RawMessage `json:"tdm-reservation"`
		Policy      string          `json:"tdm-policy"`
	}
	if len(bytes.TrimSpace(body)) == 0 || json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &list) != nil {
		return nil
	}
	var rules TDMRules
	for _, r := range list[:min(len(list), maxTDMRules)] {
		value := strings.Trim(string(r.Reservation), `" `)
		location := strings.TrimSpace(r.Location)
		if location == "" || value != "0" && value != "1" {
			continue
		}
		rules = append(rules, TDMRule{
			Reserved: value == "1", Policy: r.Policy, pattern: normalize(normalizePattern(location)),
		})
	}
	return rules
}

// For returns the first rule that matches a path with its query, and whether there is
// one.
func (t TDMRules) For(path string) (TDMRule, bool) {
	path = normalize(strings.NewReplacer("*", "%2A", "$", "%24").Replace(path))
	for _, r := range t {
		if matches(r.pattern, path) {
			return r, true
		}
	}
	return TDMRule{}, false
}
