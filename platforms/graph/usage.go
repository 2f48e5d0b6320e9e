package graph

import (
	"encoding/json"
	"net/http"
	"time"
)

// Usage is the share of its rate limit that an app or account has used.
//
// It is a percentage of a limit that grows with the app's users, so it does not
// say how many posts are left. It is used to determine how long to wait, and is
// not a network.RateStatus.
type Usage struct {
	Percent  int           // highest of all reported shares
	RegainIn time.Duration // time until calls are accepted again; 0: now, or not reported
}

type usageShare struct {
	Calls  int     `json:"call_count"`
	CPU    int     `json:"total_cputime"`
	Time   int     `json:"total_time"`
	Regain float64 `json:"estimated_time_to_regain_access"` // minutes
}

func (u *Usage) add(s usageShare) {
	u.Percent = max(u.Percent, s.Calls, s.CPU, s.Time)
	// Capped at a day, which is more than Meta reports.
	u.RegainIn = max(u.RegainIn, time.Duration(min(max(s.Regain, 0), 24*60)*float64(time.Minute)))
}

// ParseUsage parses the usage headers of a response. A malformed header counts as
// missing.
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting#headers
func ParseUsage(h http.Header) Usage {
	var u Usage
	for _, name := range []string{"X-App-Usage", "X-Page-Usage"} {
		var s usageShare
		if json.Unmarshal([]byte(h.Get(name)), &s) == nil {
			u.add(s)
		}
	}
	var cases map[string][]usageShare // by business id
	if json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, list := range cases {
			for _, s := range list {
				u.add(s)
			}
		}
	}
	return u
}
