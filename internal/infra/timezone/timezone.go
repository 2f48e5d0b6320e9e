// Package timezone loads IANA time zones by name.
package timezone

import (
	"fmt"
	"time"
)

// Load returns an IANA time zone by name. Unlike time.LoadLocation it rejects the
// empty name and "Local", which depend on the machine.
func Load(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is not an IANA time zone; use one like Asia/Ho_Chi_Minh", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not an IANA time zone; use one like Asia/Ho_Chi_Minh", name)
	}
	return zone, nil
}
