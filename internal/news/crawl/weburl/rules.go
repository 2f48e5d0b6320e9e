package weburl

import (
	"regexp"
	"slices"
	"strings"
)

// Rules say which parameters of a site's URLs change the page. The zero value
// drops what is known to be tracking or a session id and keeps the rest. They
// are stored as JSON, per registered domain.
type Rules struct {
	// Drop names parameters that do not change the page. Names are in small
	// letters; a final * stands for any ending.
	Drop []string `json:"drop,omitempty"`
	// Keep names parameters that matter although they look like tracking. It
	// wins over Drop.
	Keep []string `json:"keep,omitempty"`
	// DropOthers drops all parameters but those in Keep.
	DropOthers bool `json:"drop_others,omitempty"`
	// DropNothing keeps all parameters.
	DropNothing bool `json:"drop_nothing,omitempty"`
	// HTTPS says that the site serves the same pages by https: links that say
	// http name those.
	HTTPS bool `json:"https,omitempty"`
}

// Merge adds what was learned to the rules of a site. Rules that settle all
// parameters are left as they are.
func (r Rules) Merge(learned Rules) Rules {
	if r.DropNothing || r.DropOthers {
		return r
	}
	r.Drop, r.Keep = union(r.Drop, learned.Drop), union(r.Keep, learned.Keep)
	return r
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Equal says whether two sets of rules are the same.
func (r Rules) Equal(other Rules) bool {
	return slices.Equal(r.Drop, other.Drop) && slices.Equal(r.Keep, other.Keep) &&
		r.DropOthers == other.DropOthers && r.DropNothing == other.DropNothing && r.HTTPS == other.HTTPS
}

// shouldDrop says whether a parameter, its name as parameterName gives it, goes.
func (r Rules) shouldDrop(name, value string) bool {
	switch {
	case r.DropNothing, matchesAny(r.Keep, name):
		return false
	case r.DropOthers, matchesAny(r.Drop, name):
		return true
	default:
		return isTracking(name) || isSession(name, value)
	}
}

func matchesAny(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if prefix, any := strings.CutSuffix(entry, "*"); any {
			return strings.HasPrefix(name, prefix)
		}
		return entry == name
	})
}

// isTracking knows the parameters that advertisers, mail senders and social
// networks add. zarsrc and gidzl come from Zalo, vn_source and its like from
// VnExpress.
func isTracking(name string) bool {
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "igsh",
		"zarsrc", "zanpid", "gidzl", "zalo_src", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "hsctatracking", "mkt_tok",
		"li_fat_id", "vero_id", "vero_conv", "wickedid", "oly_enc_id", "oly_anon_id", "s_cid", "ncid", "cmpid", "wt.mc_id",
		"wt.mc_ev", "ito", "spm", "scm", "__twitter_impression", "ref_src", "ref_url", "guccounter", "__tn__", "fb_action_ids",
		"fb_action_types", "fb_source", "fb_ref", "rb_clickid", "srsltid", "sscid", "ef_id", "gad_source", "gad_campaignid",
		"epik", "_openstat", "ysclid", "_branch_match_id", "_branch_referrer", "mibextid", "sharetype", "amp_js_v",
		"vn_source", "vn_medium", "vn_campaign", "vn_term", "vn_content", "vn_thumb", "vn_zone", "vn_aid":
		return true
	}
	for _, prefix := range []string{"utm_", "pk_", "mtm_", "matomo_", "guce_", "__cft__", "_x_tr_", "hsa_", "at_custom"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isSession knows the parameters that carry a session. Short names count only
// with a value that looks drawn by lot.
func isSession(name, value string) bool {
	switch name {
	case "jsessionid", "phpsessid", "sessionid", "session_id", "cfid", "cftoken", "oscsid", "zenid", "osessionid":
		return true
	case "sid", "s", "session", "sess", "ssid":
		return randomToken.MatchString(value) && strings.ContainsAny(value, "0123456789")
	}
	return strings.HasPrefix(name, "aspsessionid")
}

var randomToken = regexp.MustCompile(`^[A-Za-z0-9]{16,}$`)
