// Package dimensions derives the coarse dimensions of a hit: the reader's
// country, the type of device, and the referring site.
package dimensions

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// Countries looks up the country of an address in a file in MaxMind's format
// (GeoLite2 Country, DB-IP Country and others). A nil value finds none.
type Countries struct{ file *maxminddb.Reader }

// OpenCountries opens a file; it returns nil for an empty path.
func OpenCountries(path string) (*Countries, error) {
	if path == "" {
		return nil, nil
	}
	file, err := maxminddb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the country file: %w", err)
	}
	c := &Countries{file: file}
	// Fail early if the file has no countries.
	if !strings.Contains(file.Metadata.DatabaseType, "Country") && !strings.Contains(file.Metadata.DatabaseType,
		"City") {
		return nil, errors.Join(fmt.Errorf("the country file has the type %q; use one of countries or cities",
			file.Metadata.DatabaseType), c.Close())
	}
	return c, nil
}

// Close closes the file.
func (c *Countries) Close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// Lookup returns the country of an address as ISO 3166-1 alpha-2, or "".
func (c *Countries) Lookup(a netip.Addr) string {
	if c == nil || !a.IsValid() {
		return ""
	}
	var code string
	if err := c.file.Lookup(a.Unmap()).DecodePath(&code, "country", "iso_code"); err != nil || !isCode(code) {
		return "" // unknown, or the file is damaged
	}
	return code
}

func isCode(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

// The types of devices.
const (
	Desktop = "desktop"
	Mobile  = "mobile"
	Tablet  = "tablet"
	Other   = "other" // televisions, consoles, readers
)

// Device returns the type of device for a browser's User-Agent.
func Device(agent string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(agent, w) {
				return true
			}
		}
		return false
	}
	switch {
	case agent == "":
		return ""
	case has("SMART-TV", "SmartTV", "Web0S", "AppleTV", "BRAVIA", "PlayStation", "Xbox", "Nintendo", "Kindle",
		"GoogleTV", "CrKey"):
		return Other
	case has("iPad", "Tablet", "PlayBook") || has("Android") && !has("Mobile", "Opera Mini"):
		return Tablet // on Android, only phones send Mobile
	case has("Mobile", "iPhone", "iPod", "Opera Mini", "UCWEB/", "Windows Phone", "Nokia", "BlackBerry", "J2ME"):
		return Mobile
	case has("Windows NT", "Macintosh", "X11;", "CrOS"):
		return Desktop
	default:
		return Other
	}
}
