package config

import "strings"

// networkSettings returns the client credentials of networks that require a manually registered application.
func networkSettings() []Setting {
	rows := []Setting{{
		Name:    "DATELINE_NETWORKS_FILE",
		Accepts: "the path of a JSON file, see docs/reference/networks.md",
		Help:    "Overrides of the networks' defaults: hosts, API versions, limits, prices.",
		set:     toPath(func(c *Config) *string { return &c.NetworksFile }),
	}}
	for _, n := range []struct{ name, title string }{
		{"facebook", "Facebook"},
		{"instagram", "Instagram"},
		{"linkedin", "LinkedIn"},
		{"threads", "Threads"},
		{"x", "X"},
		{"zalo", "Zalo"},
	} {
		variable := strings.ToUpper(n.name)
		rows = append(rows,
			Setting{
				Name: variable + "_CLIENT_ID", Accepts: "the client ID from the network",
				Help: "Client ID of your " + n.title +
					" application; register <DATELINE_PUBLIC_URL>/api/v1/oauth/callback as redirect URI there.",
				set: func(c *Config, v string) error {
					app := c.NetworkApps[n.name]
					app.ClientID = v
					c.NetworkApps[n.name] = app
					return nil
				},
			},
			Setting{
				Name: variable + "_CLIENT_SECRET", Secret: true, Accepts: "the client secret from the network",
				Help: "Client secret of your " + n.title + " application.",
				set: func(c *Config, v string) error {
					app := c.NetworkApps[n.name]
					app.ClientSecret = v
					c.NetworkApps[n.name] = app
					return nil
				},
			})
	}
	return rows
}
