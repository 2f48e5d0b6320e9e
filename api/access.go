package api

import (
	"slices"

	"dateline/internal/identity/workspace"
)

// access defines who may call an operation.
type access struct {
	public  bool            // without authentication; openapi.yaml has `security: []`
	session bool            // public, but uses the browser's session if there is one
	least   workspace.Role  // the minimum role
	scope   workspace.Scope // the scope that a token needs; empty: any token
}

// accessTable defines who may call which operation, by operationId. Operations that are
// not listed are forbidden. Tests compare it with openapi.yaml, and each row with the
// running API.
func accessTable() map[string]access {
	return map[string]access{
		"live":               {public: true},
		"ready":              {public: true},
		"completeConnection": {public: true, session: true}, // authorized by its state and the session that started it
		// Authorized by its key; the session decides where to redirect
		"chooseInBrowser": {public: true, session: true},
		"followLink":      {public: true}, // readers have no token

		"getSystem": {least: workspace.Editor, scope: workspace.WorkspaceRead},

		// About the browser's session: openapi.yaml accepts no token for these.
		"getSession":      {least: workspace.Viewer},
		"switchWorkspace": {least: workspace.Viewer},
		"listSessions":    {least: workspace.Viewer},
		"revokeSession":   {least: workspace.Viewer},
		"revokeSessions":  {least: workspace.Viewer},

		"listPosts":        {least: workspace.Viewer, scope: workspace.PostsRead},
		"exportPosts":      {least: workspace.Viewer, scope: workspace.PostsRead},
		"getPost":          {least: workspace.Viewer, scope: workspace.PostsRead},
		"postEvents":       {least: workspace.Viewer, scope: workspace.PostsRead},
		"postMetrics":      {least: workspace.Viewer, scope: workspace.PostsRead},
		"postTimeline":     {least: workspace.Viewer, scope: workspace.PostsRead},
		"workspaceEvents":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"listSeries":       {least: workspace.Viewer, scope: workspace.PostsRead},
		"getSeries":        {least: workspace.Viewer, scope: workspace.PostsRead},
		"listOccurrences":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"listDeadLetters":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"countDeadLetters": {least: workspace.Viewer, scope: workspace.PostsRead},

		"schedulePost":       {least: workspace.Author, scope: workspace.PostsWrite},
		"createPost":         {least: workspace.Author, scope: workspace.PostsWrite},
		"previewPost":        {least: workspace.Author, scope: workspace.PostsWrite},
		"getLinkCard":        {least: workspace.Author, scope: workspace.PostsWrite},
		"createPosts":        {least: workspace.Author, scope: workspace.PostsWrite},
		"editPost":           {least: workspace.Author, scope: workspace.PostsWrite},
		"cancelPost":         {least: workspace.Author, scope: workspace.PostsWrite},
		"publishNow":         {least: workspace.Author, scope: workspace.PostsWrite},
		"scheduleDraft":      {least: workspace.Author, scope: workspace.PostsWrite},
		"submitPost":         {least: workspace.Author, scope: workspace.PostsWrite},
		"approvePost":        {least: workspace.Editor, scope: workspace.PostsWrite},
		"rejectPost":         {least: workspace.Editor, scope: workspace.PostsWrite},
		"retryPost":          {least: workspace.Author, scope: workspace.PostsWrite},
		"discardPost":        {least: workspace.Author, scope: workspace.PostsWrite},
		"deletePublished":    {least: workspace.Editor, scope: workspace.PostsWrite},
		"confirmTarget":      {least: workspace.Author, scope: workspace.PostsWrite},
		"resendTarget":       {least: workspace.Author, scope: workspace.PostsWrite},
		"retryDeadLetters":   {least: workspace.Author, scope: workspace.PostsWrite},
		"discardDeadLetters": {least: workspace.Author, scope: workspace.PostsWrite},
		"createSeries":       {least: workspace.Author, scope: workspace.PostsWrite},
		"editSeries":         {least: workspace.Author, scope: workspace.PostsWrite},
		"endSeries":          {least: workspace.Author, scope: workspace.PostsWrite},
		"pauseSeries":        {least: workspace.Author, scope: workspace.PostsWrite},
		"resumeSeries":       {least: workspace.Author, scope: workspace.PostsWrite},
		"skipOccurrence":     {least: workspace.Author, scope: workspace.PostsWrite},
		"unskipOccurrence":   {least: workspace.Author, scope: workspace.PostsWrite},

		"listComments":     {least: workspace.Viewer, scope: workspace.PostsRead},
		"addComment":       {least: workspace.Author, scope: workspace.PostsWrite},
		"deleteComment":    {least: workspace.Author, scope: workspace.PostsWrite},
		"listReviewLinks":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"createReviewLink": {least: workspace.Editor, scope: workspace.PostsWrite},
		"revokeReviewLink": {least: workspace.Editor, scope: workspace.PostsWrite},
		"showReview":       {public: true}, // authorized by the secret in the address, like the two below
		"decideReview":     {public: true},
		"getReviewFile":    {public: true},

		"listSnippets":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"createSnippet": {least: workspace.Author, scope: workspace.PostsWrite},
		"updateSnippet": {least: workspace.Author, scope: workspace.PostsWrite},
		"deleteSnippet": {least: workspace.Author, scope: workspace.PostsWrite},

		"listRules":           {least: workspace.Viewer, scope: workspace.PostsRead},
		"getRule":             {least: workspace.Viewer, scope: workspace.PostsRead},
		"createRule":          {least: workspace.Editor, scope: workspace.PostsWrite},
		"updateRule":          {least: workspace.Editor, scope: workspace.PostsWrite},
		"deleteRule":          {least: workspace.Editor, scope: workspace.PostsWrite},
		"pauseRule":           {least: workspace.Editor, scope: workspace.PostsWrite},
		"resumeRule":          {least: workspace.Editor, scope: workspace.PostsWrite},
		"previewRule":         {least: workspace.Editor, scope: workspace.PostsWrite},
		"listRuleDecisions":   {least: workspace.Viewer, scope: workspace.PostsRead},
		"resolveRuleDecision": {least: workspace.Editor, scope: workspace.PostsWrite},

		"listLabels":  {least: workspace.Viewer, scope: workspace.PostsRead},
		"createLabel": {least: workspace.Author, scope: workspace.PostsWrite},
		"updateLabel": {least: workspace.Editor, scope: workspace.PostsWrite},
		"deleteLabel": {least: workspace.Editor, scope: workspace.PostsWrite},
		"labelPosts":  {least: workspace.Author, scope: workspace.PostsWrite},

		"listAccounts":            {least: workspace.Viewer, scope: workspace.AccountsRead},
		"accountLimits":           {least: workspace.Viewer, scope: workspace.AccountsRead},
		"findMentions":            {least: workspace.Author, scope: workspace.PostsWrite},
		"connectAccountWithToken": {least: workspace.Editor, scope: workspace.AccountsWrite},
		"startConnection":         {least: workspace.Editor, scope: workspace.AccountsWrite},
		"listNetworks":            {least: workspace.Viewer, scope: workspace.AccountsRead},
		"getAccountAvatar":        {least: workspace.Viewer, scope: workspace.AccountsRead},
		"getAccount":              {least: workspace.Viewer, scope: workspace.AccountsRead},
		"connectAccountByForm":    {least: workspace.Editor, scope: workspace.AccountsWrite},
		"changeAccount":           {least: workspace.Editor, scope: workspace.AccountsWrite},
		"checkAccount":            {least: workspace.Editor, scope: workspace.AccountsWrite},
		"reconnectAccount":        {least: workspace.Editor, scope: workspace.AccountsWrite},
		"disconnectAccount":       {least: workspace.Editor, scope: workspace.AccountsWrite},
		"listAccountGroups":       {least: workspace.Viewer, scope: workspace.AccountsRead},
		"createAccountGroup":      {least: workspace.Editor, scope: workspace.AccountsWrite},
		"updateAccountGroup":      {least: workspace.Editor, scope: workspace.AccountsWrite},
		"deleteAccountGroup":      {least: workspace.Editor, scope: workspace.AccountsWrite},
		"reorderQueue":            {least: workspace.Author, scope: workspace.PostsWrite},
		"listQueueSlots":          {least: workspace.Viewer, scope: workspace.PostsRead},
		"getAccountChoice":        {least: workspace.Editor, scope: workspace.AccountsRead},
		"makeAccountChoice":       {least: workspace.Editor, scope: workspace.AccountsWrite},

		"getMedia":            {least: workspace.Viewer, scope: workspace.MediaRead},
		"listMedia":           {least: workspace.Viewer, scope: workspace.MediaRead},
		"getMediaContent":     {least: workspace.Viewer, scope: workspace.MediaRead},
		"getMediaFitness":     {least: workspace.Viewer, scope: workspace.MediaRead},
		"uploadMedia":         {least: workspace.Author, scope: workspace.MediaWrite},
		"fetchMedia":          {least: workspace.Author, scope: workspace.MediaWrite},
		"editMedia":           {least: workspace.Author, scope: workspace.MediaWrite},
		"deleteMedia":         {least: workspace.Author, scope: workspace.MediaWrite},
		"startMediaUpload":    {least: workspace.Author, scope: workspace.MediaWrite},
		"getMediaUpload":      {least: workspace.Author, scope: workspace.MediaWrite}, // its signed URLs allow writing
		"completeMediaUpload": {least: workspace.Author, scope: workspace.MediaWrite},

		"listLinks":      {least: workspace.Viewer, scope: workspace.PostsRead},
		"getLink":        {least: workspace.Viewer, scope: workspace.PostsRead},
		"createLink":     {least: workspace.Author, scope: workspace.PostsWrite},
		"disableLink":    {least: workspace.Author, scope: workspace.PostsWrite},
		"enableLink":     {least: workspace.Author, scope: workspace.PostsWrite},
		"viewsHealth":    {least: workspace.Viewer, scope: workspace.ViewsRead},
		"eraseViews":     {least: workspace.Owner, scope: workspace.ViewsWrite},
		"getViewErasure": {least: workspace.Owner, scope: workspace.ViewsRead},

		// URLs of webhooks may contain credentials.
		"listWebhooks":          {least: workspace.Editor, scope: workspace.WebhooksRead},
		"getWebhook":            {least: workspace.Editor, scope: workspace.WebhooksRead},
		"listWebhookDeliveries": {least: workspace.Editor, scope: workspace.WebhooksRead},
		"createWebhook":         {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"updateWebhook":         {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"deleteWebhook":         {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"rotateWebhookSecret":   {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"testWebhook":           {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"redeliverWebhook":      {least: workspace.Editor, scope: workspace.WebhooksWrite},
		"redeliverDeadWebhooks": {least: workspace.Editor, scope: workspace.WebhooksWrite},

		// Members manage their own channels.
		"listNotificationChannels":  {least: workspace.Viewer, scope: workspace.NotificationsRead},
		"listNotifications":         {least: workspace.Viewer, scope: workspace.NotificationsRead},
		"createNotificationChannel": {least: workspace.Viewer, scope: workspace.NotificationsWrite},
		"updateNotificationChannel": {least: workspace.Viewer, scope: workspace.NotificationsWrite},
		"deleteNotificationChannel": {least: workspace.Viewer, scope: workspace.NotificationsWrite},
		"testNotificationChannel":   {least: workspace.Viewer, scope: workspace.NotificationsWrite},
		"redeliverNotifications":    {least: workspace.Viewer, scope: workspace.NotificationsWrite},

		// Operations below /v1 are called by readers' browsers, and by servers with a
		// site's key.
		"sendView":           {public: true},
		"sendHeartbeat":      {public: true},
		"sendPlausibleEvent": {public: true},
		"sendEvent":          {public: true},
		"sendHits":           {public: true}, // authorized by the site's secret key
		"pixel":              {public: true},
		"tracker":            {public: true},
		"publicCount":        {public: true},
		"publicBadge":        {public: true},
		"publicScript":       {public: true},

		"listSites":           {least: workspace.Viewer, scope: workspace.ViewsRead},
		"getSite":             {least: workspace.Viewer, scope: workspace.ViewsRead},
		"createSite":          {least: workspace.Editor, scope: workspace.ViewsWrite},
		"updateSite":          {least: workspace.Editor, scope: workspace.ViewsWrite},
		"deleteSite":          {least: workspace.Owner, scope: workspace.ViewsWrite},
		"rotateSiteSecret":    {least: workspace.Editor, scope: workspace.ViewsWrite},
		"pageStats":           {least: workspace.Viewer, scope: workspace.ViewsRead},
		"pageSeries":          {least: workspace.Viewer, scope: workspace.ViewsRead},
		"pageFunnel":          {least: workspace.Viewer, scope: workspace.ViewsRead},
		"siteReport":          {least: workspace.Viewer, scope: workspace.ViewsRead},
		"listSharedLinks":     {least: workspace.Editor, scope: workspace.ViewsRead},
		"createSharedLink":    {least: workspace.Editor, scope: workspace.ViewsWrite},
		"deleteSharedLink":    {least: workspace.Editor, scope: workspace.ViewsWrite},
		"listSubscriptions":   {least: workspace.Editor, scope: workspace.ViewsRead}, // contains addresses
		"createSubscription":  {least: workspace.Editor, scope: workspace.ViewsWrite},
		"deleteSubscription":  {least: workspace.Editor, scope: workspace.ViewsWrite},
		"resendEmail":         {least: workspace.Editor, scope: workspace.ViewsWrite},
		"listStatsImports":    {least: workspace.Viewer, scope: workspace.ViewsRead},
		"importStats":         {least: workspace.Editor, scope: workspace.ViewsWrite},
		"deleteStatsImport":   {least: workspace.Editor, scope: workspace.ViewsWrite},
		"getAlertRule":        {least: workspace.Viewer, scope: workspace.ViewsRead},
		"setAlertRule":        {least: workspace.Editor, scope: workspace.ViewsWrite},
		"listSiteAlerts":      {least: workspace.Viewer, scope: workspace.ViewsRead},
		"plausibleRealtime":   {least: workspace.Viewer, scope: workspace.ViewsRead},
		"plausibleAggregate":  {least: workspace.Viewer, scope: workspace.ViewsRead},
		"plausibleTimeseries": {least: workspace.Viewer, scope: workspace.ViewsRead},
		"plausibleBreakdown":  {least: workspace.Viewer, scope: workspace.ViewsRead},
		"plausibleQuery":      {least: workspace.Viewer, scope: workspace.ViewsRead},
		"pageDimensions":      {least: workspace.Viewer, scope: workspace.ViewsRead},
		"recentArticles":      {least: workspace.Viewer, scope: workspace.ViewsRead},
		"engagement":          {least: workspace.Viewer, scope: workspace.ViewsRead},
		"concurrents":         {least: workspace.Viewer, scope: workspace.ViewsRead},
		"pageFiltered":        {least: workspace.Viewer, scope: workspace.ViewsRead},
		"liveViews":           {least: workspace.Viewer, scope: workspace.ViewsRead},
		"postReport":          {least: workspace.Viewer, scope: workspace.ViewsRead},
		"bestTimes":           {least: workspace.Viewer, scope: workspace.ViewsRead},
		"postHighlights":      {least: workspace.Viewer, scope: workspace.ViewsRead},
		"postStats":           {least: workspace.Viewer, scope: workspace.ViewsRead},
		"trending":            {least: workspace.Viewer, scope: workspace.ViewsRead},
		"listSeeds":           {least: workspace.Viewer, scope: workspace.CrawlRead},
		"getSeed":             {least: workspace.Viewer, scope: workspace.CrawlRead},
		"createSeed":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"importSeeds":         {least: workspace.Editor, scope: workspace.CrawlWrite},
		"updateSeed":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"deleteSeed":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"listDomains":         {least: workspace.Viewer, scope: workspace.CrawlRead},
		"getDomain":           {least: workspace.Viewer, scope: workspace.CrawlRead},
		"updateDomain":        {least: workspace.Editor, scope: workspace.CrawlWrite},
		"pauseDomain":         {least: workspace.Editor, scope: workspace.CrawlWrite},
		"resumeDomain":        {least: workspace.Editor, scope: workspace.CrawlWrite},
		"runDomain":           {least: workspace.Editor, scope: workspace.CrawlWrite},
		"emptyFrontier":       {least: workspace.Owner, scope: workspace.CrawlWrite},

		"listStories":         {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getStory":            {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"mergeStory":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"splitStory":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"moveStoryArticles":   {least: workspace.Editor, scope: workspace.CrawlWrite},
		"setStoryHeadline":    {least: workspace.Editor, scope: workspace.CrawlWrite},
		"undoStoryEvent":      {least: workspace.Editor, scope: workspace.CrawlWrite},
		"muteStory":           {least: workspace.Editor, scope: workspace.CrawlWrite},
		"createStoryDraft":    {least: workspace.Author, scope: workspace.PostsWrite},
		"getStoryPreferences": {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"setStoryPreferences": {least: workspace.Editor, scope: workspace.CrawlWrite},

		"listArticles":         {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getArticle":           {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"listArticleRevisions": {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getArticleRevision":   {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"similarArticles":      {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getExtraction":        {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"listSelectors":        {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getSelectors":         {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"previewSelectors":     {least: workspace.Editor, scope: workspace.ArticlesRead},
		"updateExtraction":     {least: workspace.Editor, scope: workspace.ArticlesWrite},
		"addSelectors":         {least: workspace.Editor, scope: workspace.ArticlesWrite},
		"activateSelectors":    {least: workspace.Editor, scope: workspace.ArticlesWrite},
		"rollBackSelectors":    {least: workspace.Editor, scope: workspace.ArticlesWrite},
		"learnSelectors":       {least: workspace.Editor, scope: workspace.ArticlesWrite},
		// Raw pages are not public, because their publishers own them.
		"downloadArticlePage": {least: workspace.Editor, scope: workspace.ArticlesRead},
		"downloadWARC":        {least: workspace.Editor, scope: workspace.CrawlRead},
		"exportWARC":          {least: workspace.Editor, scope: workspace.CrawlWrite},
		"getExport":           {least: workspace.Editor, scope: workspace.CrawlRead},

		"searchArticles":         {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"listSavedSearches":      {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getSavedSearch":         {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"createSavedSearch":      {least: workspace.Author, scope: workspace.ArticlesWrite},
		"updateSavedSearch":      {least: workspace.Author, scope: workspace.ArticlesWrite},
		"deleteSavedSearch":      {least: workspace.Author, scope: workspace.ArticlesWrite},
		"listWatches":            {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"getWatch":               {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"listWatchChanges":       {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"createWatch":            {least: workspace.Author, scope: workspace.ArticlesWrite},
		"updateWatch":            {least: workspace.Author, scope: workspace.ArticlesWrite},
		"deleteWatch":            {least: workspace.Author, scope: workspace.ArticlesWrite},
		"checkWatch":             {least: workspace.Author, scope: workspace.ArticlesWrite},
		"listSavedSearchMatches": {least: workspace.Viewer, scope: workspace.ArticlesRead},
		"createFeed":             {least: workspace.Author, scope: workspace.ArticlesWrite},
		"deleteFeed":             {least: workspace.Author, scope: workspace.ArticlesWrite},
		"getFeed":                {public: true}, // authorized by the token in its URL

		"getMe":                   {least: workspace.Viewer},
		"parseTime":               {least: workspace.Viewer},
		"listTimeZones":           {least: workspace.Viewer},
		"getWorkspace":            {least: workspace.Viewer, scope: workspace.WorkspaceRead},
		"listWorkspaces":          {least: workspace.Viewer, scope: workspace.WorkspaceRead},
		"updateWorkspace":         {least: workspace.Owner, scope: workspace.WorkspaceWrite},
		"exportWorkspace":         {least: workspace.Owner, scope: workspace.WorkspaceWrite},
		"listWorkspaceExports":    {least: workspace.Owner, scope: workspace.WorkspaceRead},
		"getWorkspaceExport":      {least: workspace.Owner, scope: workspace.WorkspaceRead},
		"downloadWorkspaceExport": {least: workspace.Owner, scope: workspace.WorkspaceRead},
		"importWorkspace":         {least: workspace.Owner, scope: workspace.WorkspaceWrite},
		"createWorkspace":         {least: workspace.Owner, scope: workspace.WorkspaceWrite},
		"listMembers":             {least: workspace.Editor, scope: workspace.MembersRead},
		"inviteMember":            {least: workspace.Owner, scope: workspace.MembersWrite},
		"updateMember":            {least: workspace.Owner, scope: workspace.MembersWrite},
		"removeMember":            {least: workspace.Owner, scope: workspace.MembersWrite},
		"listTokens":              {least: workspace.Viewer, scope: workspace.TokensRead}, // owners: of all
		"createToken":             {least: workspace.Viewer, scope: workspace.TokensWrite},
		"revokeToken":             {least: workspace.Viewer, scope: workspace.TokensWrite}, // owners: of all
		"listAudit":               {least: workspace.Editor, scope: workspace.AuditRead},
	}
}

// scopesOf lists the scopes of a principal, limited by role and token.
func scopesOf(who workspace.Principal) []workspace.Scope {
	var out []workspace.Scope
	for _, a := range accessTable() {
		if a.scope != "" && who.Role.AtLeast(a.least) && who.Has(a.scope) && !slices.Contains(out, a.scope) {
			out = append(out, a.scope)
		}
	}
	slices.Sort(out)
	return out
}
