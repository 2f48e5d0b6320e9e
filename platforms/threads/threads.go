// Package threads publishes to Threads.
//
// https://developers.facebook.com/docs/threads
package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "threads"

// title is the network's display name.
const title = "Threads"

// Options configures the adapter. The zero value works.
type Options struct {
	ClientID     string      `json:"client_id"` // the Threads app id, which is not the Facebook app id
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base URL of the fake Threads (sandbox)

	Version       string `json:"version"`        // default v1.0
	AuthorizeHost string `json:"authorize_host"` // default https://threads.net
	GraphHost     string `json:"graph_host"`     // default https://graph.threads.net

	// TokenParameter sends tokens the way the documentation does, as a parameter
	// (of the URL for reads) instead of a header.
	TokenParameter bool `json:"token_parameter"`

	Characters    int   `json:"characters"`      // default 500
	Links         int   `json:"links"`           // default 5
	Carousel      int   `json:"carousel"`        // attachments; default 20
	PostsPerDay   int   `json:"posts_per_day"`   // default 250
	RepliesPerDay int   `json:"replies_per_day"` // default 1,000
	ImageBytes    int64 `json:"image_bytes"`     // default 8 MiB
	VideoBytes    int64 `json:"video_bytes"`     // default 1 GB
	VideoSeconds  int   `json:"video_seconds"`   // default 300
	AltText       int   `json:"alt_text"`        // characters; default 1,000
	FetchSeconds  int   `json:"fetch_seconds"`   // lifetime of the address of an attachment; default 2 h
	LimitsTTL     int   `json:"limits_seconds"`  // how long the account's own limits are cached; default 1 h

	Metrics      []graph.Insight `json:"metrics"`        // names of insights
	ReadsPerHour int             `json:"reads_per_hour"` // calls per account that read metrics; default 200

	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
}

func (o *Options) setDefaults() {
	text := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
		*field = strings.TrimSuffix(*field, "/")
	}
	text(&o.Version, "v1.0")
	text(&o.AuthorizeHost, "https://threads.net")
	text(&o.GraphHost, "https://graph.threads.net")
	for field, value := range map[*int]int{
		&o.Characters: 500, &o.Links: 5, &o.Carousel: 20, &o.PostsPerDay: 250, &o.RepliesPerDay: 1000,
		&o.VideoSeconds: 300, &o.AltText: 1000, &o.FetchSeconds: 7200, &o.LimitsTTL: 3600, &o.ReadsPerHour: 200,
	} {
		if *field == 0 {
			*field = value
		}
	}
	if len(o.Metrics) == 0 {
		o.Metrics = insights()
	}
	if o.ImageBytes == 0 {
		o.ImageBytes = 8 << 20
	}
	if o.VideoBytes == 0 {
		o.VideoBytes = 1_000_000_000
	}
}

// Threads implements network.Network, and connects accounts with OAuth.
type Threads struct {
	graph.OAuth
	container.Staging
	options Options
	quotas  *graph.QuotaCache
}

var (
	_ network.Network   = (*Threads)(nil)
	_ network.Preparer  = (*Threads)(nil)
	_ network.Connector = (*Threads)(nil)
	_ network.Refresher = (*Threads)(nil)
	_ network.Previewer = (*Threads)(nil)
	_ network.Measurer  = (*Threads)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Threads {
	options.setDefaults()
	t := &Threads{
		OAuth: graph.OAuth{
			API: graph.New(client, graph.Options{
				CreateTimeout: options.CreateTimeout, ReadTimeout: options.ReadTimeout, Refine: refine,
			}),
			Service: graph.Service{
				Network: title, ClientID: options.ClientID, ClientSecret: options.ClientSecret,
				Sandbox: options.Sandbox,
			},
			AuthorizeHost: options.AuthorizeHost, TokenHost: options.GraphHost, GraphHost: options.GraphHost,
			Scopes: scopes, GrantPrefix: "th", Timeout: options.ReadTimeout,
		},
		options: options,
	}
	t.quotas = graph.NewQuotaCache(time.Duration(options.LimitsTTL)*time.Second, t.queryQuotas)
	return t
}

// Name returns "threads".
func (*Threads) Name() string { return Name }

// do calls a node or edge.
func (t *Threads) do(
	ctx context.Context, account network.Account, c graph.Call, parts ...string,
) (*call.Response, error) {
	address, err := t.Service.Address(account.BaseURL, t.options.GraphHost, t.options.Version, parts...)
	if err != nil {
		return nil, err
	}
	c.URL, c.Token, c.TokenParameter = address, account.Token, t.options.TokenParameter
	return t.API.Do(ctx, c)
}

// get reads fields of a node or edge.
func (t *Threads) get(
	ctx context.Context, account network.Account, fields string, parts ...string,
) (*call.Response, error) {
	return t.do(ctx, account, graph.Call{Method: http.MethodGet, Query: url.Values{"fields": {fields}}}, parts...)
}
