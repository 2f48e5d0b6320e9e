package cli

import (
	"dateline/api"
	"dateline/internal/identity/workspace"
	"dateline/internal/system/archive"
)

func (p *parts) identityAPI() api.Identity {
	people := &workspace.Service{Store: p.store}
	into := archive.Target{Store: p.store, Objects: p.objects, Media: p.media, Audit: p.store.AuditArchive}
	if p.audience != nil {
		into.Sites = p.siteService()
	}
	if p.crawl != nil {
		into.Seeds = p.crawl.seeds
	}
	return api.Identity{
		MemberHandler:    api.MemberHandler{Store: p.store, People: people, Events: p.bus},
		SessionHandler:   api.SessionHandler{Login: p.login, Events: p.bus},
		WorkspaceHandler: api.WorkspaceHandler{Store: p.store, People: people},
		ArchiveHandler:   api.ArchiveHandler{Exports: p.archives, Into: into, Log: p.log},
	}
}
