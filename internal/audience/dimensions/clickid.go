package dimensions

import "strings"

// clickID returns the site that adds a query parameter to links, and whether only to
// advertisements. Sources: the networks' documentation of their click ids; ids of shared
// links (gidzl, mibextid, igsh, xmt) from links shared in the apps.
func clickID(name string) (source string, isPaid bool) {
	switch name {
	case "gclid", "gbraid", "wbraid", "dclid", "gad_campaignid", "gclsrc":
		return "google.com", true
	case "gad_source", "srsltid":
		return "google.com", false
	case "msclkid":
		return "bing.com", true
	case "yclid":
		return "yandex.com", true
	case "ysclid":
		return "yandex.com", false
	case "ttclid":
		return "tiktok.com", false
	case "twclid", "__twitter_impression":
		return "x.com", false
	case "li_fat_id":
		return "linkedin.com", false
	case "rdt_cid":
		return "reddit.com", false
	case "sccid":
		return "snapchat.com", false
	case "epik":
		return "pinterest.com", false
	case "qclid":
		return "quora.com", false
	case "bd_vid":
		return "baidu.com", false
	case "napm":
		return "naver.com", false
	case "xmt":
		return "threads.com", false
	case "igsh", "igshid":
		return "instagram.com", false
	case "gidzl", "zarsrc", "zclid", "zalo_src":
		return "zalo.me", false
	case "fbclid", "mibextid", "sfnsn":
		return "facebook.com", false
	default:
		return "", false
	}
}

// IsClickID reports whether a parameter describes how the reader arrived.
func IsClickID(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{
		"utm_", "mc_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_", "_hs", "__hs", "hscta", "vero_", "fb_", "zarsrc",
		"_branch", "__cft__", "gad_", "gcl_", "ga_", "oly_", "sfmc_", "bsft_", "itm_", "ns_", "at_custom",
		"at_campaign", "at_medium", "_x_tr_", "guce_", "ml_subscriber", "wt_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, end := range []string{"clid", "clkid", "clickid", "click_id"} { // as all networks but a few name theirs
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	if source, _ := clickID(name); source != "" {
		return true
	}
	switch name {
	case "_ga", "_gl", "ref", "ref_src", "ref_url",
		"ecid", "s_cid", "s_kwcid", "ef_id", "mkt_tok", // Google, X, Adobe, Marketo
		"__tn__", "__eep__", "paipv", "eav", "_rdr", "fref", "hc_ref", "slof", // Facebook, Threads
		"trk", "lipi", "is_from_webapp", "sender_device", "rdt", "isappinstalled", // LinkedIn, TikTok, Reddit, WeChat
		// Affiliate networks
		"irgwc", "cjevent", "awc", "sscid", "tduid", "admitad_uid", "ranmid", "raneaid", "ransiteid",
		"tblci", "dicbo", "oborigurl", "cto_pld", "_openstat", "xtor", // Taboola, Outbrain, Criteo and others
		"_kx", "_ke", "__s", "vgo_ee", "dm_i",
		"ck_subscriber_id", "wickedid", "et_rid", "spm", "cmpid", "guccounter", // newsletters, shops
		"n_media", "n_query", "n_rank", "n_ad_group", "n_ad", "n_keyword", "n_campaign_type": // Naver
		return true
	}
	return false
}
