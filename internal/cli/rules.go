package cli

import (
	"dateline/activities"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/publishing/rule"
)

// ruleService returns the rules, which need the articles of the crawler.
func (p *parts) ruleService() *rule.Service {
	return &rule.Service{
		Store: p.store.Publishing.Rules, Lookup: p.store.Publishing.Accounts,
		Engine: &rule.Engine{
			Store: p.store.Publishing.Rules, Lookup: p.store.Publishing.Accounts, Posts: p.scheduler, Images: p.media,
			Searches: &savedsearch.Matcher{Store: p.store.News.Searches}, Now: p.clock.Now, Log: p.log,
		},
	}
}

// ruleWorker returns the activities of rules.
func (p *parts) ruleWorker() *activities.Rules {
	return &activities.Rules{Engine: p.ruleService().Engine, Starter: p.workflows, Signaler: p.workflows, Log: p.log}
}
