// Package dimensions tells where a reader is, what they read with and where they come
// from, coarsely: a country, a kind of device, a site.
package dimensions

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/oschwald/maxminddb-golang/v2"
)

// Countries tells the country of an address by a file in MaxMind's format
// (GeoLite2 Country, DB-IP Country and others). Nil knows none.
type Countries struct{ file *maxminddb.Reader }

// OpenCountries reads a file; an empty path is none.
func OpenCountries(path string) (*Countries, error) {
	if path == "" {
		return nil, nil
	}
	file, err := maxminddb.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the file of countries: %w", err)
	}
	c := &Countries{file: file}
	// What the file does not have at all is better said at once.
	if !strings.Contains(file.Metadata.DatabaseType, "Country") && !strings.Contains(file.Metadata.DatabaseType, "City") {
		return nil, errors.Join(fmt.Errorf("the file of countries: it is of the type %q, not of countries or cities", file.Metadata.DatabaseType), c.Close())
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

// Lookup gives the country of an address by ISO 3166-1 alpha-2, or nothing.
func (c *Countries) Lookup(a netip.Addr) string {
	if c == nil || !a.IsValid() {
		return ""
	}
	var code string
	if err := c.file.Lookup(a.Unmap()).DecodePath(&code, "country", "iso_code"); err != nil || !isCode(code) {
		return "" // a damaged file knows nothing of this address
	}
	return code
}

func isCode(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

// The kinds of devices.
const (
	Desktop = "desktop"
	Mobile  = "mobile"
	Tablet  = "tablet"
	Other   = "other" // televisions, consoles, readers
)

// Device tells the kind of device from a browser's User-Agent.
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
	case has("SMART-TV", "SmartTV", "Web0S", "AppleTV", "BRAVIA", "PlayStation", "Xbox", "Nintendo", "Kindle", "GoogleTV", "CrKey"):
		return Other
	case has("iPad", "Tablet", "PlayBook") || has("Android") && !has("Mobile", "Opera Mini"):
		return Tablet // Android says Mobile on telephones only
	case has("Mobile", "iPhone", "iPod", "Opera Mini", "UCWEB/", "Windows Phone", "Nokia", "BlackBerry", "J2ME"):
		return Mobile
	case has("Windows NT", "Macintosh", "X11;", "CrOS"):
		return Desktop
	default:
		return Other
	}
}
