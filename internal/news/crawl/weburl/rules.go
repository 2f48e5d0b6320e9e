package weburl

import (
	"regexp"
	"slices"
	"strings"
)

// Rules say which URL parameters of a site change the page. The zero value
// drops known tracking and session parameters and keeps the others. Rules are
// stored as JSON, per registered domain.
type Rules struct {
	// Drop lists parameters that do not change the page. Names are in lower
	// case; a trailing * matches any suffix.
	Drop []string `json:"drop,omitempty"`
	// Keep lists parameters that matter although they look like tracking. It
	// takes precedence over Drop.
	Keep []string `json:"keep,omitempty"`
	// DropOthers drops all parameters but those in Keep.
	DropOthers bool `json:"drop_others,omitempty"`
	// DropNothing keeps all parameters.
	DropNothing bool `json:"drop_nothing,omitempty"`
	// HTTPS means that the site serves the same pages over https: http links
	// are rewritten.
	HTTPS bool `json:"https,omitempty"`
}

// Merge adds learned rules. Rules that already decide about all parameters are
// unchanged.
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

// Equal reports whether two sets of rules are the same.
func (r Rules) Equal(other Rules) bool {
	return slices.Equal(r.Drop, other.Drop) && slices.Equal(r.Keep, other.Keep) &&
		r.DropOthers == other.DropOthers && r.DropNothing == other.DropNothing && r.HTTPS == other.HTTPS
}

// shouldDrop reports whether a parameter is dropped. name must come from
// parameterName.
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
		if prefix, isPrefix := strings.CutSuffix(entry, "*"); isPrefix {
			return strings.HasPrefix(name, prefix)
		}
		return entry == name
	})
}

// isTracking recognizes the parameters of advertisers, newsletters and social
// networks. zarsrc and gidzl come from Zalo, vn_source and similar ones from
// VnExpress.
func isTracking(name string) bool {
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "igshid",
		"igsh", "zarsrc", "zanpid", "gidzl", "zalo_src", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi",
		"hsctatracking", "mkt_tok", "li_fat_id", "vero_id", "vero_conv", "wickedid", "oly_enc_id", "oly_anon_id",
		"s_cid", "ncid", "cmpid", "wt.mc_id", "wt.mc_ev", "ito", "spm", "scm", "__twitter_impression", "ref_src",
		"ref_url", "guccounter", "__tn__", "fb_action_ids", "fb_action_types", "fb_source", "fb_ref", "rb_clickid",
		"srsltid", "sscid", "ef_id", "gad_source", "gad_campaignid", "epik", "_openstat", "ysclid", "_branch_match_id",
		"_branch_referrer", "mibextid", "sharetype", "amp_js_v",
		"vn_source", "vn_medium", "vn_campaign", "vn_term", "vn_content", "vn_thumb", "vn_zone", "vn_aid":
		return true
	}
	for _, prefix := range []string{
		"utm_", "pk_", "mtm_", "matomo_", "guce_", "__cft__", "_x_tr_", "hsa_",
		"at_custom",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isSession recognizes session parameters. Short names count only with a value
// that looks random.
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
