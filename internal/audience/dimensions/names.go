package dimensions

import "strings"

// BrowserName returns our name of a browser that another product names, such as
// "Microsoft Edge" or "Chrome Mobile 120"; without a version if we do not know it.
func BrowserName(text string) string {
	return ourName(text, map[string]string{
		"microsoftedge": "Edge", "msedge": "Edge", "edgehtml": "Edge", "edgechromium": "Edge", "googlechrome": "Chrome",
		"chromium": "Chrome",
		"crios":    "Chrome", "androidwebview": "Chrome", "android": "Chrome", "mozillafirefox": "Firefox",
		"fxios": "Firefox", "fenix": "Firefox",
		"applesafari": "Safari", "samsung": "Samsung Internet", "samsunginternet": "Samsung Internet",
		"uc": "UC Browser", "ucweb": "UC Browser",
		"yandex": "Yandex", "yabrowser": "Yandex", "coccoc": "Cốc Cốc", "cốccốc": "Cốc Cốc",
		"duckduckgoprivacy": "DuckDuckGo", "ddg": "DuckDuckGo",
		"gsa": "Google app", "googlesearch": "Google app", "google": "Google app", "operamini": "Opera",
		"operatouch": "Opera", "operagx": "Opera",
		"operanext": "Opera", "facebookmessenger": "Facebook", "ie": "Internet Explorer", "msie": "Internet Explorer",
		"iemobile": "Internet Explorer",
		"edge":     "Edge", "chrome": "Chrome", "firefox": "Firefox", "safari": "Safari", "opera": "Opera",
		"duckduckgo": "DuckDuckGo",
		"facebook":   "Facebook", "instagram": "Instagram", "zalo": "Zalo", "tiktok": "TikTok",
	})
}

// SystemName returns our name of an operating system that another product names, such as
// "Mac OS X 10.15" or "Chrome OS"; without a version if we do not know it.
func SystemName(text string) string {
	return ourName(text, map[string]string{
		"mac": "macOS", "macos": "macOS", "macosx": "macOS", "osx": "macOS", "macintosh": "macOS", "ipados": "iOS",
		"iphoneos": "iOS", "iphone": "iOS",
		"ipad": "iOS", "ios": "iOS", "chromeos": "ChromeOS", "chromiumos": "ChromeOS", "cros": "ChromeOS",
		"windows": "Windows", "windowsnt": "Windows",
		"win": "Windows", "windowsvista": "Windows", "windowsxp": "Windows", "windowsphone": "Windows",
		"gnulinux": "Linux",
		"linux":    "Linux", "ubuntu": "Linux", "debian": "Linux", "fedora": "Linux", "android": "Android",
		"androidos": "Android", //nolint:misspell // a name
	})
}

// ourName looks a name up without its version, and then without the words that say how a
// product is built.
func ourName(text string, names map[string]string) string {
	var words, core []string
	for _, word := range strings.Fields(text) {
		if word[0] >= '0' && word[0] <= '9' {
			break // a version
		}
		words = append(words, word)
		switch strings.Trim(strings.ToLower(word), "()") {
		case "mobile", "browser", "app", "webview", "in-app", "for", "desktop", "web":
		default:
			core = append(core, word)
		}
	}
	for _, w := range [][]string{words, core} {
		if name := names[squash(strings.Join(w, ""))]; name != "" && len(w) > 0 {
			return name
		}
	}
	return strings.Join(words, " ")
}
