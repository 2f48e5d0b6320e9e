// Package linkedin publishes for members and organisations of LinkedIn.
//
// The API is described at
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api
// and the pages beside it, which comments here call by their names.
package linkedin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is how this network is called in the API and the database.
const Name = "linkedin"

// Options are what an operator may set. The zero value works, with no account
// connected.
type Options struct {
	ClientID     string      `json:"client_id"`
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base address of LinkedIn's copy in the sandbox; empty: none

	APIHost      string `json:"api_host"`      // default https://api.linkedin.com
	WebHost      string `json:"web_host"`      // of the consent page and of posts; default https://www.linkedin.com
	UploadDomain string `json:"upload_domain"` // uploads go to hosts of it alone; default linkedin.com
	// Version of the API, by month. Each lives for at least a year, and then
	// every call is refused until the operator sets a newer one.
	Version string `json:"version"`
	// Organizations asks for the rights to post as organisations, which LinkedIn
	// gives to reviewed apps (Community Management API) and refuses to others.
	Organizations      bool     `json:"organizations"`
	MemberScopes       []string `json:"member_scopes"`
	OrganizationScopes []string `json:"organization_scopes"`
	PKCE               bool     `json:"pkce"` // for apps that LinkedIn has enabled it for

	Text   TextLimits  `json:"text"`
	Media  MediaLimits `json:"media"`
	Quotas QuotaLimits `json:"quotas"`

	MediaPollInterval time.Duration `json:"-"` // between questions about processing; 0: 3 s
	CreateTimeout     time.Duration `json:"-"` // for the publishing call; 0: 4 min
	ReadTimeout       time.Duration `json:"-"` // for calls that may be repeated; 0: 30 s
	UploadTimeout     time.Duration `json:"-"` // for one picture, or one part of a video; 0: 5 min
}

// LinkedIn implements network.Network and the ways to connect its accounts.
//
// It is no network.Revoker: a member and all their organisations share one
// token, so that giving it back for one account would end the others.
type LinkedIn struct {
	calls   *call.Caller
	options Options
}

var (
	_ network.Network   = (*LinkedIn)(nil)
	_ network.Preparer  = (*LinkedIn)(nil)
	_ network.Connector = (*LinkedIn)(nil)
	_ network.Refresher = (*LinkedIn)(nil)
	_ network.Previewer = (*LinkedIn)(nil)
)

// New makes the adapter. client should refuse private addresses (see
// call.NewClient).
func New(client *http.Client, options Options) *LinkedIn {
	options.APIHost = cmp.Or(options.APIHost, "https://api.linkedin.com")
	options.WebHost = cmp.Or(options.WebHost, "https://www.linkedin.com")
	options.UploadDomain = cmp.Or(options.UploadDomain, "linkedin.com")
	options.Version = cmp.Or(options.Version, "202607")
	if len(options.MemberScopes) == 0 {
		options.MemberScopes = []string{"openid", "profile", "w_member_social"}
	}
	if len(options.OrganizationScopes) == 0 {
		options.OrganizationScopes = []string{"w_organization_social", "r_organization_social", "rw_organization_admin"}
	}
	options.Text.setDefaults()
	options.Media.setDefaults()
	options.Quotas.setDefaults()
	options.MediaPollInterval = cmp.Or(options.MediaPollInterval, 3*time.Second)
	options.UploadTimeout = cmp.Or(options.UploadTimeout, 5*time.Minute)
	return &LinkedIn{calls: call.New(client), options: options}
}

// Name gives "linkedin".
func (l *LinkedIn) Name() string { return Name }

// host gives the host to call for an account: the real one, or the sandbox,
// which is all of LinkedIn's hosts.
func (l *LinkedIn) host(baseURL, host string) (string, error) {
	return call.Host("LinkedIn", baseURL, l.options.Sandbox, host)
}

// rest makes one call to the versioned API and turns every refusal into a
// *network.Error.
func (l *LinkedIn) rest(ctx context.Context, account network.Account, path string, request call.Request) (*call.Response, error) {
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Linkedin-Version", l.options.Version)
	request.Header.Set("X-Restli-Protocol-Version", "2.0.0")
	request.Token = account.Token
	host, err := l.host(account.BaseURL, l.options.APIHost)
	if err != nil {
		return nil, err
	}
	request.URL = host + path
	return l.do(ctx, request)
}

func (l *LinkedIn) do(ctx context.Context, request call.Request) (*call.Response, error) {
	if request.Timeout == 0 {
		request.Timeout = l.options.ReadTimeout
		if request.Create {
			request.Timeout = l.options.CreateTimeout
		}
	}
	res, err := l.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if id := res.Header.Get("X-Li-Uuid"); id != "" {
		res.RequestID = id
	}
	if !res.OK() {
		return res, l.refusal(res)
	}
	return res, nil
}

// uploadAddress refuses to carry a token to a place that is not LinkedIn's.
func (l *LinkedIn) uploadAddress(baseURL, address string) error {
	u, err := url.Parse(address)
	host := ""
	if err == nil {
		host = strings.ToLower(u.Hostname())
	}
	domain := l.options.UploadDomain
	ours := baseURL == "" && host != "" && u.Scheme == "https" && u.User == nil && (host == domain || strings.HasSuffix(host, "."+domain))
	if ours || baseURL != "" && strings.HasPrefix(address, baseURL+"/") {
		return nil
	}
	return &network.Error{Class: network.Rejected, Code: "bad_upload_address",
		Message: "LinkedIn names an upload address at " + host + ", which is not one of its own hosts."}
}

// escape writes a URN as LinkedIn wants it in an address: with its colons and
// brackets encoded.
func escape(urn string) string { return url.QueryEscape(urn) }

// isOrganization says whether an account is one; its token may read, too.
func isOrganization(account network.Account) bool {
	return strings.HasPrefix(account.RemoteID, "urn:li:organization:")
}
