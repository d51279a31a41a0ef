package activities

import (
	"go.temporal.io/sdk/worker"

	"gleaner/internal/record/collections"
	"gleaner/internal/service/app"
)

// Activities are all activities with what they need.
type Activities struct {
	Stages    *Stages
	Crawl     *Crawl
	Documents *Documents
	Recrawls  *Recrawls
	Notices   *Notices
	Imports   *Imports
	Tables    *Tables

	Collections *Collections
}

// New makes the activities of an open application.
func New(a *app.App) *Activities {
	stages := &Stages{db: a.DB, stages: a.Stages, stats: a.Stats, recrawl: a.Recrawl, policy: string(a.Config.Crawl.Policy), Hurry: hurry}
	return &Activities{
		Stages:    stages,
		Crawl:     &Crawl{db: a.DB, crawler: a.Crawler, watch: a.Watch, end: stages.endSite},
		Documents: &Documents{db: a.DB, coll: a.Collection, importer: a.Importer},
		Recrawls:  &Recrawls{db: a.DB, policy: a.Recrawl, stats: a.Stats},
		Notices:   &Notices{db: a.DB, channels: a.Channels, review: a.Config.Notify.Review},
		Imports:   &Imports{db: a.DB, importer: a.Importer},
		Tables:    &Tables{jobs: a.Tables},

		Collections: &Collections{maker: a.Maker, record: collections.In(a.DB), watch: a.Watch},
	}
}

// Register makes a worker run the activities of its queue.
func (a *Activities) Register(w worker.ActivityRegistry, queue string) {
	switch queue {
	case QueueHarvest, QueueMetadata:
		w.RegisterActivity(a.Stages)
		w.RegisterActivity(a.Recrawls)
		w.RegisterActivity(a.Notices)
		w.RegisterActivity(a.Imports) // the end of a job waits for no other job
		w.RegisterActivity(a.Collections)
	case QueueCrawl:
		w.RegisterActivity(a.Crawl)
		w.RegisterActivity(a.Collections)
	case QueueDocuments:
		w.RegisterActivity(a.Documents)
	case QueueJobs:
		w.RegisterActivity(a.Imports)
		w.RegisterActivity(a.Tables)
	}
}
