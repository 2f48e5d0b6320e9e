package login

import "strings"

// shortAgent tells a browser and its system in a few words, enough to know
// one's own sessions apart and too little to follow anybody by. The names of
// others stand in most User-Agent headers, so the order matters: "Edg/" comes
// with "Chrome/", which comes with "Safari/".
func shortAgent(header string) string {
	browser, system := "", ""
	for _, known := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}} {
		if strings.Contains(header, known[0]) {
			browser = known[1]
			break
		}
	}
	for _, known := range [][2]string{{"iPhone", "iOS"}, {"iPad", "iOS"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"}} {
		if strings.Contains(header, known[0]) {
			system = known[1]
			break
		}
	}
	switch {
	case browser == "":
		return "another program"
	case system == "":
		return browser
	default:
		return browser + " on " + system
	}
}
