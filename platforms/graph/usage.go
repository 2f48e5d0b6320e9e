package graph

import (
	"encoding/json"
	"net/http"
	"time"
)

// Usage is how much of its share of the API an app or account has used.
//
// It is a percentage of a share that grows with the app's users, so it says
// nothing of how many posts are left: it is good for knowing how long to wait,
// and is no network.Rate.
type Usage struct {
	Percent  int           // of the fullest share
	RegainIn time.Duration // until calls are taken again; 0: now, or not said
}

type usageShare struct {
	Calls  int     `json:"call_count"`
	CPU    int     `json:"total_cputime"`
	Time   int     `json:"total_time"`
	Regain float64 `json:"estimated_time_to_regain_access"` // minutes
}

func (u *Usage) add(s usageShare) {
	u.Percent = max(u.Percent, s.Calls, s.CPU, s.Time)
	// A day is more than Meta ever says; what is beyond it is not believed.
	u.RegainIn = max(u.RegainIn, time.Duration(min(max(s.Regain, 0), 24*60)*float64(time.Minute)))
}

// ParseUsage reads the headers of an answer. A header that cannot be read counts
// as missing.
// https://developers.facebook.com/docs/graph-api/overview/rate-limiting#headers
func ParseUsage(h http.Header) Usage {
	var u Usage
	for _, name := range []string{"X-App-Usage", "X-Page-Usage"} {
		var s usageShare
		if json.Unmarshal([]byte(h.Get(name)), &s) == nil {
			u.add(s)
		}
	}
	var cases map[string][]usageShare // by the business's id
	if json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, list := range cases {
			for _, s := range list {
				u.add(s)
			}
		}
	}
	return u
}
