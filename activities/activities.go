package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/worker"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/notify"
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

// Tables do jobs on what is on record.
type Tables struct{ jobs *tables.Jobs }

// DoTableJob does a job from where the attempt before ended.
func (a *Tables) DoTableJob(ctx context.Context, run tables.Run) (tables.Progress, error) {
	beat, set, stop := heartbeats[tables.Progress](ctx)
	defer stop()
	return result(a.jobs.Do(beat, run, set))
}

// Notices sends notices to the operators.
type Notices struct {
	db       *store.DB
	channels []notify.Channel
	review   int // least number of matches waiting for review that is notified
}

// TellNews sends each channel the news since its last notice, and returns how many notices it
// sent. A channel that fails does not stop the others. The next attempt repeats only the
// failed notices.
func (a *Notices) TellNews(ctx context.Context) (notified int, err error) {
	ctx, _, stop := heartbeats[string](ctx)
	defer stop()
	var failed error
	for _, c := range a.channels {
		n, err := a.db.News(ctx, c.Name(), a.review)
		if err != nil {
			return notified, typed(err)
		}
		if !n.Empty() {
			if err := c.Send(ctx, notify.Of(n)); err != nil {
				failed = errors.Join(failed, fmt.Errorf("notice by %s: %w", c.Name(), err))
				continue
			}
			notified++
		}
		if err := a.db.Noticed(ctx, c.Name(), n); err != nil {
			return notified, typed(err)
		}
	}
	return notified, typed(failed)
}
