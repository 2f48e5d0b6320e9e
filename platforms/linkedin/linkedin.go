// Package linkedin publishes for members and organizations of LinkedIn.
//
// The API is documented at
// https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/posts-api
// and the pages next to it, which comments refer to by title.
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

// Name is the network's name in the API and the database.
const Name = "linkedin"

// Options configures the adapter. The zero value works if no account is
// connected.
type Options struct {
	ClientID     string      `json:"client_id"`
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base URL of the fake LinkedIn (sandbox); empty: none

	APIHost string `json:"api_host"` // default https://api.linkedin.com
	// Host of the consent page and of posts; default https://www.linkedin.com
	WebHost      string `json:"web_host"`
	UploadDomain string `json:"upload_domain"` // uploads are sent to hosts of this domain only; default linkedin.com
	// Version is the monthly version of the API. Each is supported for at least a
	// year; after that every call is refused until the operator sets a newer one.
	Version string `json:"version"`
	// Organizations requests the scopes to post for organizations, which LinkedIn
	// grants to reviewed apps (Community Management API) and refuses to others.
	Organizations      bool     `json:"organizations"`
	MemberScopes       []string `json:"member_scopes"`
	OrganizationScopes []string `json:"organization_scopes"`
	PKCE               bool     `json:"pkce"` // for apps for which LinkedIn enabled it
	// MemberAnalytics requests the scope for the metrics of members' posts, which
	// LinkedIn grants to reviewed apps. BareEntity names a post in that call by its URN
	// alone.
	MemberAnalytics bool `json:"member_analytics"`
	BareEntity      bool `json:"bare_entity"`

	Text   TextLimits  `json:"text"`
	Media  MediaLimits `json:"media"`
	Quotas QuotaLimits `json:"quotas"`

	MediaPollInterval time.Duration `json:"-"` // interval between requests for the processing state; 0: 3 s
	CreateTimeout     time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout       time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout     time.Duration `json:"-"` // timeout of one image or one part of a video; 0: 5 min
}

// LinkedIn implements network.Network, and connects accounts with OAuth.
//
// It does not implement network.Revoker: a member and all of their organizations
// share one token, so revoking it for one account would disconnect the others.
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
	_ network.Measurer  = (*LinkedIn)(nil)
)

// New returns the adapter. client should refuse private addresses
// (call.NewClient).
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

// Name returns "linkedin".
func (l *LinkedIn) Name() string { return Name }

// host returns the host to call for an account: the real one, or the fake network
// (sandbox), which serves all of LinkedIn's hosts.
func (l *LinkedIn) host(baseURL, host string) (string, error) {
	return call.Host("LinkedIn", baseURL, l.options.Sandbox, host)
}

// rest makes one call to the versioned API and returns every refusal as a
// *network.Error.
func (l *LinkedIn) rest(
	ctx context.Context, account network.Account, path string, request call.Request,
) (*call.Response, error) {
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

// uploadAddress refuses to send a token to a host that is not LinkedIn's.
func (l *LinkedIn) uploadAddress(baseURL, address string) error {
	u, err := url.Parse(address)
	host := ""
	if err == nil {
		host = strings.ToLower(u.Hostname())
	}
	domain := l.options.UploadDomain
	isOwnHost := baseURL == "" && host != "" && u.Scheme == "https" && u.User == nil &&
		(host == domain || strings.HasSuffix(host, "."+domain))
	if isOwnHost || baseURL != "" && strings.HasPrefix(address, baseURL+"/") {
		return nil
	}
	return &network.Error{
		Class: network.Rejected, Code: "bad_upload_address",
		Message: "LinkedIn returned an upload address at " + host + ", which is not one of its own hosts.",
	}
}

// escape encodes a URN for a URL the way LinkedIn requires it: with its colons
// and parentheses escaped.
func escape(urn string) string { return url.QueryEscape(urn) }

// isOrganization reports whether an account is an organization, whose token can
// also read.
func isOrganization(account network.Account) bool {
	return strings.HasPrefix(account.RemoteID, "urn:li:organization:")
}
