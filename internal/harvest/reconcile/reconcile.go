package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// Workflows reads and starts the workflows of the record in Temporal.
type Workflows interface {
	// Status returns the status of a workflow.
	Status(ctx context.Context, id string) (Status, error)
	// Waits returns the hosts for which the workflow of a harvest or of a recrawl waits.
	Waits(ctx context.Context, id string) ([]string, error)
	// Start starts a harvest again, Collect a collection, and JudgeLeft the judging of
	// documents that no crawl judged.
	Start(ctx context.Context, h store.Harvest) error
	Collect(ctx context.Context, c collections.OpenRun) error
	JudgeLeft(ctx context.Context) error
}

// IDs returns the ids of workflows; that of a recrawl is its name.
type IDs struct {
	Site, Harvest, Collection func(name string) string
	Job                       func(kind string, id int64) string
}

// ErrOthers is returned if work on the record is under way, or paused, that Temporal does not
// know: the two servers do not belong together.
var ErrOthers = errors.New("the record is being worked on, or paused, but this Temporal server and namespace know nothing " +
	"of it; check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Nothing was mended")

const (
	leaseAge  = 10 * time.Minute // after which an expired lease is dropped
	robotsAge = 24 * time.Hour
	leftAge   = 10 * time.Minute // after which no crawl is going to judge a document
)

// Options are the options of Run.
type Options struct {
	DryRun  bool // only return the repairs
	Restart bool // start harvests and collections without a workflow again
}

// Reconciler repairs the record.
type Reconciler struct {
	DB        *store.DB
	Workflows Workflows
	IDs       IDs
	Recrawl   recrawl.Policy // when a site that is stopped is due again
	Log       *slog.Logger
}

// Run compares the record with Temporal and repairs the record. It returns the repairs that it
// made, or with DryRun would make.
func (r *Reconciler) Run(ctx context.Context, o Options) ([]Repair, error) {
	s, err := r.gather(ctx, o.Restart)
	if err != nil {
		return nil, err
	}
	var done []Repair
	var failed error
	for _, repair := range decide(s, o.Restart) {
		ok := o.DryRun
		if !o.DryRun {
			if ok, err = r.repair(ctx, repair, s.Now); err != nil {
				failed = errors.Join(failed, fmt.Errorf("reconcile %s: %w", repair.What, err))
				continue
			}
		}
		if ok {
			done = append(done, repair)
		}
	}
	left, err := r.leftovers(ctx, s.Now, o)
	err = errors.Join(failed, err)
	done = append(done, left...)
	if !o.DryRun {
		for _, d := range done {
			r.Log.InfoContext(ctx, "mended", "kind", string(d.Kind), "what", d.What, "reason", d.Reason)
		}
	}
	return done, err
}

// gather reads the record before it queries Temporal. If a workflow ends in between, its row
// has changed and is not repaired.
func (r *Reconciler) gather(ctx context.Context, restart bool) (State, error) {
	s := State{Sites: map[string]Status{}, Runs: map[string]Status{}, Wanted: map[string]bool{}, Recrawls: map[string]Status{}}
	var err error
	if s.Now, err = r.DB.Now(ctx); err != nil { // rows have times of the database's clock
		return s, err
	}
	waits, err := r.harvests(ctx, &s, restart)
	if err != nil {
		return s, err
	}
	waited, err := r.recrawls(ctx, &s)
	if err != nil {
		return s, err
	}
	waits = append(waits, waited...)
	for _, host := range waits {
		s.Wanted[host] = true
	}
	if s.Crawls, err = r.DB.OpenCrawls(ctx, waits); err != nil {
		return s, err
	}
	for _, c := range s.Crawls {
		if s.Sites[c.Host], err = s.met(r.Workflows.Status(ctx, r.IDs.Site(c.Host))); err != nil {
			return s, err
		}
	}
	running, err := r.jobs(ctx, &s)
	if err != nil {
		return s, err
	}
	if err := r.collections(ctx, &s); err != nil {
		return s, err
	}
	of := len(s.Harvests) - s.lost + len(s.Crawls) + len(s.Recrawls) + len(s.Collections) + running
	if s.known > 0 || of == 0 {
		return s, nil
	}
	return s, r.belong(ctx, s, restart)
}

// met counts a workflow if Temporal knows it.
func (s *State) met(status Status, err error) (Status, error) {
	if err == nil && status != Unknown {
		s.known++
	}
	return status, err
}

// harvests reads the harvests that have not ended, and for a restart those that were lost. It
// returns the hosts for which the running ones wait.
func (r *Reconciler) harvests(ctx context.Context, s *State, restart bool) (waits []string, err error) {
	all, err := r.DB.Harvests(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if h.CompletedAt != nil && !(restart && lost(h)) {
			continue
		}
		s.Harvests = append(s.Harvests, h)
		if lost(h) { // it is not running on any server
			s.lost++
		}
		id := r.IDs.Harvest(h.ID)
		if s.Runs[h.ID], err = s.met(r.Workflows.Status(ctx, id)); err != nil {
			return nil, err
		}
		waits = append(waits, r.waits(ctx, id, s.Runs[h.ID])...)
	}
	return waits, nil
}

// waits returns the hosts for which a workflow waits, if it runs. Without a worker there is no
// answer; the next Run queries again.
func (r *Reconciler) waits(ctx context.Context, id string, status Status) []string {
	if status != Runs {
		return nil
	}
	hosts, err := r.Workflows.Waits(ctx, id)
	if err != nil {
		r.Log.DebugContext(ctx, "a workflow does not say what it waits for", "workflow", id, "error", err)
	}
	return hosts
}

// recrawls reads the recrawls that want sites crawled. It returns the hosts for which the
// running ones wait.
func (r *Reconciler) recrawls(ctx context.Context, s *State) (waits []string, err error) {
	names, err := r.DB.RecrawlNames(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if s.Recrawls[name], err = s.met(r.Workflows.Status(ctx, name)); err != nil {
			return nil, err
		}
		waits = append(waits, r.waits(ctx, name, s.Recrawls[name])...)
	}
	return waits, nil
}

// jobs reads the jobs that have not ended. It returns how many are running by the record.
func (r *Reconciler) jobs(ctx context.Context, s *State) (running int, err error) {
	if s.Jobs, err = r.DB.OpenJobs(ctx); err != nil {
		return 0, err
	}
	s.JobRuns = map[int64]Status{}
	for _, j := range s.Jobs {
		if s.JobRuns[j.ID], err = s.met(r.Workflows.Status(ctx, r.IDs.Job(j.Kind, j.ID))); err != nil {
			return 0, err
		}
		if j.State == store.JobRunning {
			running++
		}
	}
	return running, nil
}

// collections reads the collections that have not ended.
func (r *Reconciler) collections(ctx context.Context, s *State) (err error) {
	if s.Collections, err = collections.Open(ctx, collections.In(r.DB)); err != nil {
		return err
	}
	s.CollectionRuns = map[string]Status{}
	for _, c := range s.Collections {
		if s.CollectionRuns[c.Name], err = s.met(r.Workflows.Status(ctx, r.IDs.Collection(c.Name))); err != nil {
			return err
		}
	}
	return nil
}

// belong returns ErrOthers if some process crawls, or a harvest or a collection is paused. It is
// called if Temporal knows no workflow of the record. With restart, paused ones are lost.
func (r *Reconciler) belong(ctx context.Context, s State, restart bool) error {
	if !restart && (slices.ContainsFunc(s.Harvests, func(h store.Harvest) bool { return h.Paused }) ||
		slices.ContainsFunc(s.Collections, func(c collections.OpenRun) bool { return c.Paused })) {
		return ErrOthers
	}
	leased, err := r.DB.AnyLease(ctx)
	if err == nil && leased {
		err = ErrOthers
	}
	return err
}

// repair makes a repair, unless its row has changed since it was gathered.
func (r *Reconciler) repair(ctx context.Context, p Repair, gathered time.Time) (bool, error) {
	switch p.Kind {
	case RequeueSite:
		return r.DB.RequeueCrawl(ctx, p.crawl, p.Reason)
	case StopSite:
		return r.DB.StopCrawl(ctx, p.crawl, p.Reason, r.Recrawl)
	case EndHarvest:
		return r.DB.EndHarvest(ctx, p.harvest, fmt.Sprintf("%s; `%s` goes on from what is known", p.Reason, p.harvest.Command()))
	case LeaveRecrawl:
		n, err := r.DB.ForgetRecrawl(ctx, p.What, gathered)
		return n > 0, err
	case EndJob:
		return r.DB.EndLostJob(ctx, p.job, fmt.Sprintf("%s; `starter jobs run %d` runs it again", p.Reason, p.job.ID))
	case EndCollection:
		return collections.EndLost(ctx, collections.In(r.DB), p.made, p.Reason+"; the same `starter collect` goes on with what it has")
	case StartCollection:
		return true, r.Workflows.Collect(ctx, p.made)
	case StartHarvest:
		h := p.harvest
		h.Paused = h.Paused || h.Cancelled && lost(h) // EndHarvest cancels what is paused
		return true, r.Workflows.Start(ctx, h)
	}
	return false, nil
}

// leftovers makes the repairs that concern no workflow.
func (r *Reconciler) leftovers(ctx context.Context, now time.Time, o Options) ([]Repair, error) {
	var out []Repair
	add := func(kind Kind, n int, reason string) {
		if n > 0 {
			out = append(out, Repair{Kind: kind, What: fmt.Sprint(n), Reason: reason})
		}
	}
	n, err := r.DB.LeftDocuments(ctx, now.Add(-leftAge))
	if err != nil {
		return out, err
	}
	if n > 0 && !o.DryRun {
		if err := r.Workflows.JudgeLeft(ctx); err != nil {
			return out, err
		}
	}
	add(JudgeLeft, n, "documents that nobody examined")
	if n, err = r.DB.DropLeases(ctx, now.Add(-leaseAge), !o.DryRun); err != nil {
		return out, err
	}
	add(DropLease, n, "leases that ran out long ago")
	if n, err = r.DB.DropRobots(ctx, now.Add(-robotsAge), !o.DryRun); err != nil {
		return out, err
	}
	add(DropRobots, n, "failures to read robots.txt that ran out long ago")
	return out, nil
}
