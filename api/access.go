package api

import (
	"slices"

	"dateline/internal/people"
)

// access is what an operation asks of who sends it.
type access struct {
	public  bool         // of nobody anything; openapi.yaml says `security: []`
	session bool         // of public ones: it counts which session the browser is in, if any
	least   people.Role  // the role that may do it, and those above
	scope   people.Scope // that a token has to have; empty: any token
}

// accessTable says who may do what, by operationId. What does not stand here,
// nobody may do. A test holds it against openapi.yaml, and each row against the
// running API.
func accessTable() map[string]access {
	return map[string]access{
		"live":               {public: true},
		"ready":              {public: true},
		"completeConnection": {public: true, session: true}, // its state is the proof, and the session that began it
		"chooseInBrowser":    {public: true, session: true}, // its key is the proof; the session leads back to the dashboard
		"followLink":         {public: true},                // readers have no token

		"getSystem": {least: people.Editor, scope: people.WorkspaceRead},

		// About the browser that asks: openapi.yaml takes no token for these.
		"getSession":      {least: people.Viewer},
		"switchWorkspace": {least: people.Viewer},
		"listSessions":    {least: people.Viewer},
		"endSession":      {least: people.Viewer},
		"endSessions":     {least: people.Viewer},

		"listPosts":        {least: people.Viewer, scope: people.PostsRead},
		"exportPosts":      {least: people.Viewer, scope: people.PostsRead},
		"getPost":          {least: people.Viewer, scope: people.PostsRead},
		"postEvents":       {least: people.Viewer, scope: people.PostsRead},
		"postTimeline":     {least: people.Viewer, scope: people.PostsRead},
		"workspaceEvents":  {least: people.Viewer, scope: people.PostsRead},
		"listSeries":       {least: people.Viewer, scope: people.PostsRead},
		"getSeries":        {least: people.Viewer, scope: people.PostsRead},
		"listOccurrences":  {least: people.Viewer, scope: people.PostsRead},
		"listDeadLetters":  {least: people.Viewer, scope: people.PostsRead},
		"countDeadLetters": {least: people.Viewer, scope: people.PostsRead},

		"schedulePost":       {least: people.Author, scope: people.PostsWrite},
		"createPost":         {least: people.Author, scope: people.PostsWrite},
		"previewPost":        {least: people.Author, scope: people.PostsWrite},
		"createPosts":        {least: people.Author, scope: people.PostsWrite},
		"editPost":           {least: people.Author, scope: people.PostsWrite},
		"cancelPost":         {least: people.Author, scope: people.PostsWrite},
		"publishNow":         {least: people.Author, scope: people.PostsWrite},
		"scheduleDraft":      {least: people.Author, scope: people.PostsWrite},
		"submitPost":         {least: people.Author, scope: people.PostsWrite},
		"approvePost":        {least: people.Editor, scope: people.PostsWrite},
		"rejectPost":         {least: people.Editor, scope: people.PostsWrite},
		"retryPost":          {least: people.Author, scope: people.PostsWrite},
		"discardPost":        {least: people.Author, scope: people.PostsWrite},
		"confirmTarget":      {least: people.Author, scope: people.PostsWrite},
		"sendTargetAgain":    {least: people.Author, scope: people.PostsWrite},
		"retryDeadLetters":   {least: people.Author, scope: people.PostsWrite},
		"discardDeadLetters": {least: people.Author, scope: people.PostsWrite},
		"createSeries":       {least: people.Author, scope: people.PostsWrite},
		"editSeries":         {least: people.Author, scope: people.PostsWrite},
		"endSeries":          {least: people.Author, scope: people.PostsWrite},
		"pauseSeries":        {least: people.Author, scope: people.PostsWrite},
		"resumeSeries":       {least: people.Author, scope: people.PostsWrite},
		"skipOccurrence":     {least: people.Author, scope: people.PostsWrite},
		"unskipOccurrence":   {least: people.Author, scope: people.PostsWrite},

		"listAccounts":            {least: people.Viewer, scope: people.AccountsRead},
		"accountLimits":           {least: people.Viewer, scope: people.AccountsRead},
		"connectAccountWithToken": {least: people.Editor, scope: people.AccountsWrite},
		"beginConnection":         {least: people.Editor, scope: people.AccountsWrite},
		"listNetworks":            {least: people.Viewer, scope: people.AccountsRead},
		"getAccount":              {least: people.Viewer, scope: people.AccountsRead},
		"connectAccountByForm":    {least: people.Editor, scope: people.AccountsWrite},
		"changeAccount":           {least: people.Editor, scope: people.AccountsWrite},
		"checkAccount":            {least: people.Editor, scope: people.AccountsWrite},
		"reconnectAccount":        {least: people.Editor, scope: people.AccountsWrite},
		"disconnectAccount":       {least: people.Editor, scope: people.AccountsWrite},
		"getAccountChoice":        {least: people.Editor, scope: people.AccountsRead},
		"makeAccountChoice":       {least: people.Editor, scope: people.AccountsWrite},

		"getMedia":            {least: people.Viewer, scope: people.MediaRead},
		"listMedia":           {least: people.Viewer, scope: people.MediaRead},
		"getMediaContent":     {least: people.Viewer, scope: people.MediaRead},
		"getMediaFitness":     {least: people.Viewer, scope: people.MediaRead},
		"uploadMedia":         {least: people.Author, scope: people.MediaWrite},
		"fetchMedia":          {least: people.Author, scope: people.MediaWrite},
		"editMedia":           {least: people.Author, scope: people.MediaWrite},
		"deleteMedia":         {least: people.Author, scope: people.MediaWrite},
		"beginMediaUpload":    {least: people.Author, scope: people.MediaWrite},
		"getMediaUpload":      {least: people.Author, scope: people.MediaWrite}, // its addresses let write
		"completeMediaUpload": {least: people.Author, scope: people.MediaWrite},

		"listLinks":      {least: people.Viewer, scope: people.PostsRead},
		"getLink":        {least: people.Viewer, scope: people.PostsRead},
		"createLink":     {least: people.Author, scope: people.PostsWrite},
		"disableLink":    {least: people.Author, scope: people.PostsWrite},
		"enableLink":     {least: people.Author, scope: people.PostsWrite},
		"viewsHealth":    {least: people.Viewer, scope: people.ViewsRead},
		"eraseViews":     {least: people.Owner, scope: people.ViewsWrite},
		"getViewErasure": {least: people.Owner, scope: people.ViewsRead},

		// Addresses of webhooks may hold what authorises.
		"listWebhooks":          {least: people.Editor, scope: people.WebhooksRead},
		"getWebhook":            {least: people.Editor, scope: people.WebhooksRead},
		"listWebhookDeliveries": {least: people.Editor, scope: people.WebhooksRead},
		"createWebhook":         {least: people.Editor, scope: people.WebhooksWrite},
		"editWebhook":           {least: people.Editor, scope: people.WebhooksWrite},
		"deleteWebhook":         {least: people.Editor, scope: people.WebhooksWrite},
		"rotateWebhookSecret":   {least: people.Editor, scope: people.WebhooksWrite},
		"testWebhook":           {least: people.Editor, scope: people.WebhooksWrite},
		"redeliverWebhook":      {least: people.Editor, scope: people.WebhooksWrite},
		"redeliverDeadWebhooks": {least: people.Editor, scope: people.WebhooksWrite},

		// What is below /v1 is asked for by readers' browsers, and by servers with a
		// site's own key.
		"sendView":     {public: true},
		"sendEvent":    {public: true},
		"sendHits":     {public: true}, // the site's secret key is the proof
		"pixel":        {public: true},
		"tracker":      {public: true},
		"publicCount":  {public: true},
		"publicBadge":  {public: true},
		"publicScript": {public: true},

		"listSites":        {least: people.Viewer, scope: people.ViewsRead},
		"getSite":          {least: people.Viewer, scope: people.ViewsRead},
		"createSite":       {least: people.Editor, scope: people.ViewsWrite},
		"editSite":         {least: people.Editor, scope: people.ViewsWrite},
		"deleteSite":       {least: people.Owner, scope: people.ViewsWrite},
		"rotateSiteSecret": {least: people.Editor, scope: people.ViewsWrite},
		"pageStats":        {least: people.Viewer, scope: people.ViewsRead},
		"pageSeries":       {least: people.Viewer, scope: people.ViewsRead},
		"pageFunnel":       {least: people.Viewer, scope: people.ViewsRead},
		"pageDimensions":   {least: people.Viewer, scope: people.ViewsRead},
		"pageFiltered":     {least: people.Viewer, scope: people.ViewsRead},
		"liveViews":        {least: people.Viewer, scope: people.ViewsRead},
		"postStats":        {least: people.Viewer, scope: people.ViewsRead},
		"trending":         {least: people.Viewer, scope: people.ViewsRead},
		"listSeeds":        {least: people.Viewer, scope: people.CrawlRead},
		"getSeed":          {least: people.Viewer, scope: people.CrawlRead},
		"createSeed":       {least: people.Editor, scope: people.CrawlWrite},
		"importSeeds":      {least: people.Editor, scope: people.CrawlWrite},
		"editSeed":         {least: people.Editor, scope: people.CrawlWrite},
		"deleteSeed":       {least: people.Editor, scope: people.CrawlWrite},
		"listDomains":      {least: people.Viewer, scope: people.CrawlRead},
		"getDomain":        {least: people.Viewer, scope: people.CrawlRead},
		"editDomain":       {least: people.Editor, scope: people.CrawlWrite},
		"pauseDomain":      {least: people.Editor, scope: people.CrawlWrite},
		"resumeDomain":     {least: people.Editor, scope: people.CrawlWrite},
		"runDomain":        {least: people.Editor, scope: people.CrawlWrite},
		"emptyFrontier":    {least: people.Owner, scope: people.CrawlWrite},

		"listArticles":         {least: people.Viewer, scope: people.ArticlesRead},
		"getArticle":           {least: people.Viewer, scope: people.ArticlesRead},
		"listArticleRevisions": {least: people.Viewer, scope: people.ArticlesRead},
		"getArticleRevision":   {least: people.Viewer, scope: people.ArticlesRead},
		"similarArticles":      {least: people.Viewer, scope: people.ArticlesRead},
		"getReading":           {least: people.Viewer, scope: people.ArticlesRead},
		"listSelectors":        {least: people.Viewer, scope: people.ArticlesRead},
		"getSelectors":         {least: people.Viewer, scope: people.ArticlesRead},
		"previewSelectors":     {least: people.Editor, scope: people.ArticlesRead},
		"editReading":          {least: people.Editor, scope: people.ArticlesWrite},
		"addSelectors":         {least: people.Editor, scope: people.ArticlesWrite},
		"activateSelectors":    {least: people.Editor, scope: people.ArticlesWrite},
		"rollBackSelectors":    {least: people.Editor, scope: people.ArticlesWrite},
		"learnSelectors":       {least: people.Editor, scope: people.ArticlesWrite},
		// Raw pages are private: their publishers own them.
		"getArticleRaw": {least: people.Editor, scope: people.ArticlesRead},
		"downloadWARC":  {least: people.Editor, scope: people.CrawlRead},
		"exportWARC":    {least: people.Editor, scope: people.CrawlWrite},
		"getExport":     {least: people.Editor, scope: people.CrawlRead},

		"searchArticles":         {least: people.Viewer, scope: people.ArticlesRead},
		"listSavedSearches":      {least: people.Viewer, scope: people.ArticlesRead},
		"getSavedSearch":         {least: people.Viewer, scope: people.ArticlesRead},
		"createSavedSearch":      {least: people.Author, scope: people.ArticlesWrite},
		"editSavedSearch":        {least: people.Author, scope: people.ArticlesWrite},
		"deleteSavedSearch":      {least: people.Author, scope: people.ArticlesWrite},
		"listSavedSearchMatches": {least: people.Viewer, scope: people.ArticlesRead},
		"openFeed":               {least: people.Author, scope: people.ArticlesWrite},
		"closeFeed":              {least: people.Author, scope: people.ArticlesWrite},
		"readFeed":               {public: true}, // its token is the proof

		"getMe":                   {least: people.Viewer},
		"getWorkspace":            {least: people.Viewer, scope: people.WorkspaceRead},
		"listWorkspaces":          {least: people.Viewer, scope: people.WorkspaceRead},
		"editWorkspace":           {least: people.Owner, scope: people.WorkspaceWrite},
		"exportWorkspace":         {least: people.Owner, scope: people.WorkspaceWrite},
		"listWorkspaceExports":    {least: people.Owner, scope: people.WorkspaceRead},
		"getWorkspaceExport":      {least: people.Owner, scope: people.WorkspaceRead},
		"downloadWorkspaceExport": {least: people.Owner, scope: people.WorkspaceRead},
		"importWorkspace":         {least: people.Owner, scope: people.WorkspaceWrite},
		"createWorkspace":         {least: people.Owner, scope: people.WorkspaceWrite},
		"listMembers":             {least: people.Editor, scope: people.MembersRead},
		"inviteMember":            {least: people.Owner, scope: people.MembersWrite},
		"changeMember":            {least: people.Owner, scope: people.MembersWrite},
		"removeMember":            {least: people.Owner, scope: people.MembersWrite},
		"listTokens":              {least: people.Viewer, scope: people.TokensRead}, // owners: of all
		"createToken":             {least: people.Viewer, scope: people.TokensWrite},
		"revokeToken":             {least: people.Viewer, scope: people.TokensWrite}, // owners: of all
		"listAudit":               {least: people.Editor, scope: people.AuditRead},
	}
}

// scopesOf lists what a principal may do, by role and by token.
func scopesOf(who people.Principal) []people.Scope {
	var out []people.Scope
	for _, a := range accessTable() {
		if a.scope != "" && who.Role.AtLeast(a.least) && who.Has(a.scope) && !slices.Contains(out, a.scope) {
			out = append(out, a.scope)
		}
	}
	slices.Sort(out)
	return out
}
