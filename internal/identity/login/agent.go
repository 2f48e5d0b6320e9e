package login

import "strings"

// shortAgent returns the browser and operating system of a User-Agent header, to
// distinguish sessions without identifying a user. The order matters, because the headers
// of Edge contain "Chrome/", and those of Chrome "Safari/".
func shortAgent(header string) string {
	browser, system := "", ""
	for _, known := range [][2]string{
		{"Edg/", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
		{"curl/", "curl"},
	} {
		if strings.Contains(header, known[0]) {
			browser = known[1]
			break
		}
	}
	for _, known := range [][2]string{
		{"iPhone", "iOS"},
		{"iPad", "iOS"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	} {
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
