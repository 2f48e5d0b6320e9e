package config

import "strings"

// networkSettings are about networks at which an operator registers by hand.
func networkSettings() []Setting {
	rows := []Setting{{Name: "DATELINE_NETWORKS_FILE", Accepts: "the path of a JSON file, see docs/reference/networks.md",
		Help: "What differs from the networks' defaults: hosts, API versions, limits, prices.",
		set:  toPath(func(c *Config) *string { return &c.NetworksFile })}}
	for _, n := range []struct{ name, title string }{
		{"facebook", "Facebook"}, {"instagram", "Instagram"}, {"linkedin", "LinkedIn"}, {"threads", "Threads"}, {"x", "X"},
	} {
		variable := strings.ToUpper(n.name)
		rows = append(rows,
			Setting{Name: variable + "_CLIENT_ID", Accepts: "the id that the network gave the application",
				Help: "Application at " + n.title + "; register <DATELINE_PUBLIC_URL>/api/v1/oauth/callback there as redirect address.",
				set: func(c *Config, v string) error {
					app := c.NetworkApps[n.name]
					app.ClientID = v
					c.NetworkApps[n.name] = app
					return nil
				}},
			Setting{Name: variable + "_CLIENT_SECRET", Secret: true, Accepts: "the secret that goes with it",
				Help: "Secret of the application at " + n.title + ".",
				set: func(c *Config, v string) error {
					app := c.NetworkApps[n.name]
					app.ClientSecret = v
					c.NetworkApps[n.name] = app
					return nil
				}})
	}
	return rows
}
