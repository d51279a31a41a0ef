package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
)

// Status is the status of a workflow in Temporal.
type Status string

// The statuses that matter. A workflow that continued as new runs.
const (
	Runs       Status = "runs"
	Unknown    Status = "is not known to Temporal"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "was cancelled"
	Terminated Status = "was terminated"
	TimedOut   Status = "timed out"
)

// State is the record beside the statuses of its workflows.
type State struct {
	Now      time.Time
	Crawls   []store.OpenCrawl // crawls under way by the record
	Harvests []store.Harvest   // that have not ended, or are to be started again
	Sites    map[string]Status // of each crawl's workflow, by host
	Runs     map[string]Status // of each harvest's workflow, by id
	Wanted   map[string]bool   // hosts that a running harvest waits for
	Recrawls map[string]Status // of those that want sites crawled, by name
	Jobs     []store.Job       // that have not ended
	JobRuns  map[int64]Status  // of each job's workflow, by number

	Collections    []collections.OpenRun // that have not ended
	CollectionRuns map[string]Status     // of each one's workflow, by name

	known int // workflows that Temporal knows of all these
	lost  int // harvests to be started again that ended since Temporal did not know them
}

// Grace is how long a site is left alone after its crawl began, a harvest or a job after its
// row changed, and a collection after its request: a worker may be about to update them.
const Grace = 2 * time.Minute

// lost reports whether a harvest was ended because Temporal did not know it.
func lost(h store.Harvest) bool {
	return h.Stage == gleaner.StageFailed && strings.HasPrefix(h.Note, "its workflow "+string(Unknown))
}

// Kind is the kind of a repair.
type Kind string

// The kinds of repairs.
const (
	StopSite     Kind = "site-stopped"    // its crawl was ended from outside: it stops, and is due again later
	RequeueSite  Kind = "site-requeued"   // Temporal no longer knows its crawl: it waits for another
	EndHarvest   Kind = "harvest-failed"  // it has no workflow: it fails, with a reason
	StartHarvest Kind = "harvest-started" // it has no workflow: it is started again
	LeaveRecrawl Kind = "recrawl-left"    // it does not run: its sites no longer belong to it
	EndJob       Kind = "job-failed"      // it has no workflow: it fails, with a reason
	// EndCollection fails a collection without a workflow; StartCollection starts it again.
	EndCollection   Kind = "collection-failed"
	StartCollection Kind = "collection-started"
	JudgeLeft       Kind = "documents-judged" // a workflow is started that judges them
	DropLease       Kind = "lease-dropped"
	DropRobots      Kind = "robots-forgotten"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{StopSite, RequeueSite, EndHarvest, StartHarvest, LeaveRecrawl, EndJob, EndCollection, StartCollection,
		JudgeLeft, DropLease, DropRobots}
}

// Repair is one repair, planned or made.
type Repair struct {
	Kind   Kind   `json:"kind"`
	What   string `json:"what"` // host, harvest, job, collection or a count
	Reason string `json:"reason"`

	crawl   store.OpenCrawl
	harvest store.Harvest
	job     store.Job
	made    collections.OpenRun
}

// decide returns the repairs of sites, harvests, jobs and collections. A crawl that somebody
// ended (terminated, cancelled, failed) was meant to end, so the site is stopped. A crawl
// that Temporal does not know, or has completed, was lost, so the site waits again. With
// restart, harvests and collections without a workflow are started again instead of ended,
// at once.
func decide(s State, restart bool) []Repair {
	var out []Repair
	for _, c := range s.Crawls {
		status := s.Sites[c.Host]
		switch {
		case status == Runs, c.Leased, s.Now.Sub(c.Since) < Grace:
		case c.State == gleaner.SiteNew && !s.Wanted[c.Host]:
			// The workflow that put it back starts it.
		case status == Unknown, status == Completed:
			out = append(out, Repair{Kind: RequeueSite, What: c.Host, Reason: "its crawl " + string(status), crawl: c})
		default:
			out = append(out, Repair{Kind: StopSite, What: c.Host, Reason: "its crawl " + string(status), crawl: c})
		}
	}
	for _, h := range s.Harvests {
		status := s.Runs[h.ID]
		// A person who requests a restart knows that nobody else starts it. A harvest
		// that runs after all is not started twice.
		if status == Runs || !restart && s.Now.Sub(h.UpdatedAt) < Grace {
			continue
		}
		r := Repair{Kind: EndHarvest, What: h.ID, Reason: fmt.Sprintf("its workflow %s in stage %s", status, h.Stage), harvest: h}
		if lost(h) {
			why, _, _ := strings.Cut(h.Note, ";")
			r.Reason = "it was lost: " + why
		}
		if restart {
			r.Kind = StartHarvest
		}
		out = append(out, r)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Recrawls)) {
		if status := s.Recrawls[name]; status != Runs {
			out = append(out, Repair{Kind: LeaveRecrawl, What: name, Reason: "it " + string(status)})
		}
	}
	for _, j := range s.Jobs {
		if status := s.JobRuns[j.ID]; status != Runs && s.Now.Sub(j.Updated) >= Grace {
			out = append(out, Repair{Kind: EndJob, What: fmt.Sprint(j.ID), Reason: "its workflow " + string(status), job: j})
		}
	}
	for _, c := range s.Collections {
		status := s.CollectionRuns[c.Name]
		if status == Runs || !restart && s.Now.Sub(c.Asked) < Grace {
			continue
		}
		r := Repair{Kind: EndCollection, What: c.Name, Reason: "its workflow " + string(status), made: c}
		if restart {
			r.Kind = StartCollection
		}
		out = append(out, r)
	}
	return out
}
