package cli

import (
	"dateline/api"
	"dateline/internal/identity/workspace"
	"dateline/internal/system/archive"
)

func (p *parts) identityAPI() api.Identity {
	people := &workspace.Service{Store: p.store.Identity.Workspaces}
	into := archive.Target{
		Store: p.store.Installation.Archive, Objects: p.objects, Media: p.media,
		Audit: p.store.Installation.Archive.AuditArchive,
	}
	if p.audience != nil {
		into.Sites = p.siteService()
	}
	if p.crawl != nil {
		into.Seeds = p.crawl.seeds
	}
	return api.Identity{
		MemberHandler: api.MemberHandler{
			Store: p.store.Identity.Workspaces, People: people, Events: p.bus, Audit: into.Audit,
		},
		SessionHandler:   api.SessionHandler{Login: p.login, Events: p.bus},
		WorkspaceHandler: api.WorkspaceHandler{Store: p.store.Identity.Workspaces, People: people},
		DemoHandler:      api.DemoHandler{Demo: p.demoService()},
		ArchiveHandler:   api.ArchiveHandler{Exports: p.archives, Into: into, Log: p.log},
	}
}
