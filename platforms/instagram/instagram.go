// Package instagram publishes to Instagram professional accounts through the
// Instagram API with Instagram Login.
//
// https://developers.facebook.com/docs/instagram-platform/content-publishing
package instagram

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
const Name = "instagram"

// title is the network's display name.
const title = "Instagram"

// Options configures the adapter. The zero value works.
type Options struct {
	ClientID     string      `json:"client_id"` // the Instagram app id, which is not the Facebook app id
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base URL of the fake Instagram (sandbox)

	Version       string `json:"version"`        // default v25.0
	AuthorizeHost string `json:"authorize_host"` // default https://www.instagram.com
	TokenHost     string `json:"token_host"`     // default https://api.instagram.com
	GraphHost     string `json:"graph_host"`     // default https://graph.instagram.com
	UploadHost    string `json:"upload_host"`    // default https://rupload.facebook.com

	Caption      int   `json:"caption"`        // characters; default 2,200
	Hashtags     int   `json:"hashtags"`       // default 30
	Mentions     int   `json:"mentions"`       // default 20
	Carousel     int   `json:"carousel"`       // attachments; default 10
	PostsPerDay  int   `json:"posts_per_day"`  // used until the account's own limit is known; default 100
	ImageBytes   int64 `json:"image_bytes"`    // default 8 MiB
	VideoBytes   int64 `json:"video_bytes"`    // default 300 MB
	VideoSeconds int   `json:"video_seconds"`  // default 900
	AltText      int   `json:"alt_text"`       // characters; default 1,000
	FetchSeconds int   `json:"fetch_seconds"`  // lifetime of the address of an attachment; default 2 h
	LimitsTTL    int   `json:"limits_seconds"` // how long the account's own limit is cached; default 1 h

	Metrics      Metrics `json:"metrics"`        // names of insights
	ReadsPerHour int     `json:"reads_per_hour"` // calls per account that read metrics; default 200

	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of one video; 0: 30 min
}

func (o *Options) setDefaults() {
	text := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
		*field = strings.TrimSuffix(*field, "/")
	}
	text(&o.Version, "v25.0")
	text(&o.AuthorizeHost, "https://www.instagram.com")
	text(&o.TokenHost, "https://api.instagram.com")
	text(&o.GraphHost, "https://graph.instagram.com")
	text(&o.UploadHost, "https://rupload.facebook.com")
	for field, value := range map[*int]int{
		&o.Caption: 2200, &o.Hashtags: 30, &o.Mentions: 20, &o.Carousel: 10, &o.PostsPerDay: 100,
		&o.VideoSeconds: 900, &o.AltText: 1000, &o.FetchSeconds: 7200, &o.LimitsTTL: 3600, &o.ReadsPerHour: 200,
	} {
		if *field == 0 {
			*field = value
		}
	}
	o.Metrics.setDefaults()
	if o.ImageBytes == 0 {
		o.ImageBytes = 8 << 20
	}
	if o.VideoBytes == 0 {
		o.VideoBytes = 300_000_000
	}
	if o.UploadTimeout == 0 {
		o.UploadTimeout = 30 * time.Minute
	}
}

// Instagram implements network.Network, and connects accounts with OAuth.
type Instagram struct {
	graph.OAuth
	container.Staging
	options Options
	quotas  *graph.QuotaCache
}

var (
	_ network.Network   = (*Instagram)(nil)
	_ network.Preparer  = (*Instagram)(nil)
	_ network.Connector = (*Instagram)(nil)
	_ network.Refresher = (*Instagram)(nil)
	_ network.Previewer = (*Instagram)(nil)
	_ network.Measurer  = (*Instagram)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Instagram {
	options.setDefaults()
	i := &Instagram{
		OAuth: graph.OAuth{
			API: graph.New(client, graph.Options{
				CreateTimeout: options.CreateTimeout, ReadTimeout: options.ReadTimeout, Refine: refine,
			}),
			Service: graph.Service{
				Network: title, ClientID: options.ClientID, ClientSecret: options.ClientSecret,
				Sandbox: options.Sandbox,
			},
			AuthorizeHost: options.AuthorizeHost, TokenHost: options.TokenHost, GraphHost: options.GraphHost,
			Scopes: scopes, GrantPrefix: "ig", Timeout: options.ReadTimeout,
		},
		options: options,
	}
	i.quotas = graph.NewQuotaCache(time.Duration(options.LimitsTTL)*time.Second, i.queryQuotas)
	return i
}

// Name returns "instagram".
func (*Instagram) Name() string { return Name }

// address returns the address of a node or edge for an account.
func (i *Instagram) address(account network.Account, parts ...string) (string, error) {
	return i.Service.Address(account.BaseURL, i.options.GraphHost, i.options.Version, parts...)
}

// get reads a node or edge.
func (i *Instagram) get(
	ctx context.Context, account network.Account, query url.Values, parts ...string,
) (*call.Response, error) {
	address, err := i.address(account, parts...)
	if err != nil {
		return nil, err
	}
	return i.API.Do(ctx, graph.Call{Method: http.MethodGet, URL: address, Query: query, Token: account.Token})
}

// Delete is not supported: the API has no such call.
func (*Instagram) Delete(context.Context, network.Account, string) error {
	return &network.Error{
		Class: network.Rejected, Code: network.CodeUnsupported,
		Message: "Instagram's API cannot delete posts. Delete the post in the app.",
	}
}
