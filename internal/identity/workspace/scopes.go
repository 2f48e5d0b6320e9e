package workspace

import "slices"

// Scope is something that an API token may be used for. A token never does
// more than its user's role allows. To write does not include to read.
type Scope string

// The scopes.
const (
	// Everything grants all that the role allows, including scopes that are added
	// later.
	Everything Scope = "*"

	PostsRead      Scope = "posts:read" // also series, dead letters and events
	PostsWrite     Scope = "posts:write"
	AccountsRead   Scope = "accounts:read"
	AccountsWrite  Scope = "accounts:write"
	MediaRead      Scope = "media:read"
	MediaWrite     Scope = "media:write"
	WebhooksRead   Scope = "webhooks:read"
	WebhooksWrite  Scope = "webhooks:write"
	WorkspaceRead  Scope = "workspace:read"
	WorkspaceWrite Scope = "workspace:write"
	MembersRead    Scope = "members:read"
	MembersWrite   Scope = "members:write"
	TokensRead     Scope = "tokens:read"
	TokensWrite    Scope = "tokens:write"
	AuditRead      Scope = "audit:read"
	ViewsRead      Scope = "views:read" // sites and their counts
	ViewsWrite     Scope = "views:write"
	CrawlRead      Scope = "crawl:read"
	CrawlWrite     Scope = "crawl:write"
	ArticlesRead   Scope = "articles:read"
	ArticlesWrite  Scope = "articles:write" // how they are read from pages

	NotificationsRead  Scope = "notifications:read"  // one's own channels
	NotificationsWrite Scope = "notifications:write" // likewise
)

// Scopes lists all scopes but Everything.
func Scopes() []Scope {
	return []Scope{
		PostsRead, PostsWrite, AccountsRead, AccountsWrite, MediaRead, MediaWrite, WebhooksRead,
		WebhooksWrite,
		WorkspaceRead, WorkspaceWrite, MembersRead, MembersWrite, TokensRead, TokensWrite, AuditRead, ViewsRead,
		ViewsWrite, CrawlRead, CrawlWrite, ArticlesRead, ArticlesWrite, NotificationsRead, NotificationsWrite,
	}
}

// Has reports whether the principal has a scope. Its role must allow the operation,
// too.
func (p Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, Everything) || slices.Contains(p.Scopes, s)
}

// MinRole is the lowest role for which a scope is useful. Lower roles cannot create a
// token with it, because it would take effect only after a promotion.
func (s Scope) MinRole() Role {
	switch s {
	case WorkspaceWrite, MembersWrite:
		return Owner
	case AccountsWrite, WebhooksRead, WebhooksWrite, MembersRead, AuditRead, ViewsWrite, CrawlWrite:
		return Editor
	case PostsWrite, MediaWrite, ArticlesWrite:
		return Author
	default:
		return Viewer
	}
}
