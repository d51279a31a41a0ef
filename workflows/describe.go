package workflows

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
)

// Description is the description of a workflow in the Temporal UI: a line for lists, and in
// Markdown what the workflow does and how to control it.
type Description struct{ Summary, Details string }

// DescribeHarvest describes a harvest.
func DescribeHarvest(h activities.Harvest) Description {
	what := fmt.Sprintf("Completes the collection of the venue **%s**, %s.", h.Venue, h.Years)
	switch {
	case h.Goal.Site != "":
		what = fmt.Sprintf("Looks for the academic documents of the site **%s**.", h.Goal.Site)
	case h.Goal.Author != "":
		what = fmt.Sprintf("Looks for the papers of the person **%s** of DBLP, %s.", h.Goal.Author, h.Years)
	case h.Goal.List != "":
		what = fmt.Sprintf("Looks for the papers of the list **%s**, %s.", h.Goal.List, h.Years)
	}
	return Description{summary(h.ID), what + fmt.Sprintf("\n\n- `starter watch %s` shows how far it is, `starter report %s` what it came to\n"+
		"- the updates pause, resume and retry-what work at any time; to cancel it keeps what was found\n- its sites: `%s = '%s' AND WorkflowType = 'CrawlSite'`",
		h.ID, h.ID, gleaner.VenuesAttribute, attribute(h.Venue))}
}

// DescribeHomepages describes the search for a harvest's homepages.
func DescribeHomepages(h activities.Harvest) Description {
	return Description{summary("homepages for " + h.ID), "Looks for the homepages of the authors whose papers `" + h.ID + "` misses, in two passes of batches.\n\n`starter homepages list " + h.ID + "` lists them, `starter homepages explain AUTHOR` says why."}
}

// DescribeSite describes a site's crawl.
func DescribeSite(host string) Description {
	return Description{host, "Crawls **" + host + "** in slices, for all harvests that want it; there is one crawl of a host at a time.\n\n`starter stats sites` shows what it gave, `starter explain URL` why a link was taken when it was, `starter recrawl --site " + host + "` asks again."}
}

// DescribeRecrawl describes a recrawl.
func DescribeRecrawl(p RecrawlParams) Description {
	of, what := p.Due.Of, "every site whose rest is over"
	summary := "recrawl of what is due"
	switch {
	case of.Host != "":
		what, summary = "the site **"+of.Host+"**", "recrawl of "+of.Host
	case of.Venue != "":
		what, summary = "the sites of **"+of.Venue+"** whose rest is over", "recrawl of "+of.Venue
	}
	if p.Whitelist != nil {
		what, summary = "the whitelist's pages, and "+what, "crawl of the whitelist"
	}
	if p.Due.All {
		what += ", due or not"
	}
	return Description{summary, "Asks again, conditionally, for what may have changed: " + what + ".\n\nTo cancel it ends the crawls that no harvest wants; what they did is kept."}
}

// DescribeJudgeLeft describes the judging of documents that no crawl judged.
func DescribeJudgeLeft() Description {
	return Description{"documents left behind", "Examines the documents that were stored and that no crawl comes back to."}
}

// DescribeTellNews describes the sending of notices.
func DescribeTellNews() Description {
	return Description{"notices", "Tells by webhook and mail, as the settings `notify-…` say, which harvests ended, which sites refused, and that matches wait for review. What cannot be told now is told later."}
}

// DescribeImport describes an import.
func DescribeImport(run ingest.Run, o ingest.Options) Description {
	what := strings.Join(o.Paths[:min(len(o.Paths), 3)], ", ")
	if n := len(o.Paths) - 3; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return Description{fmt.Sprintf("import %d of %s", run.Job, what), fmt.Sprintf("Imports what another crawler left in **%s**, in steps; what it saved is compared with the record at the end.\n\n"+
		"`starter jobs show %d` shows how far it is and each difference, `starter jobs run %d` runs it again. To cancel it keeps what was saved.", what, run.Job, run.Job)}
}

// DescribeTable describes a job on tables.
func DescribeTable(run tables.Run, o tables.Options) Description {
	return Description{fmt.Sprintf("job %d, %s %s", run.Job, run.Kind, o.Describe(run.Kind)), fmt.Sprintf("A job on what is on record: **%s**, %s.\n\n"+
		"`starter jobs show %d` shows how far it is and each line of it, `starter jobs run %d` runs it again. One that is cancelled has done what it has done.", run.Kind, o.Describe(run.Kind), run.Job, run.Job)}
}

// DescribeCollection describes collections by topic.
func DescribeCollection(name string) Description {
	return Description{summary("collections " + name), "Makes the collections by topic **" + name + "**: a search and a centroid for each topic, then a crawl over many hosts, what is most on topic first.\n\n" +
		"`starter collections show " + name + "` shows how far it is, the updates pause and resume work at any time. To cancel it keeps what was collected; the same `starter collect` goes on with it."}
}

// DescribeSchedule describes a run of a schedule.
func DescribeSchedule(p ScheduledParams) Description {
	var of Description
	switch {
	case p.Harvest != nil:
		of = DescribeHarvest(p.Harvest.Harvest)
	case p.Recrawl != nil:
		of = DescribeRecrawl(*p.Recrawl)
	}
	return Description{of.Summary, "Started by a schedule; the work itself is a workflow of its own id.\n\n" + of.Details}
}

// Bounds of Temporal in bytes: of a summary, of one keyword of a search attribute, and of a
// list of keywords in JSON, in which a & takes six.
const (
	mostInSummary   = 300
	mostInAttribute = 255
	mostInList      = 2000
)

// summary truncates a line to the bound on summaries.
func summary(s string) string {
	if len(s) > mostInSummary {
		s = strings.ToValidUTF8(s[:mostInSummary], "") + " …"
	}
	return s
}

// attribute truncates a goal's name to the bound on keywords.
func attribute(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), mostInAttribute)], "")
}

// venuesOf returns the goals of a workflow as keywords, as many as the bounds allow.
func venuesOf(names ...string) (out []string) {
	size := 0
	for _, n := range names {
		n = attribute(n)
		if n != "" && size+jsonSize(n) <= mostInList {
			out = append(out, n)
			size += jsonSize(n)
		}
	}
	return out
}

// jsonSize returns the most bytes that a name takes in a list in JSON. Workflow code cannot use
// encoding/json, which caches types and so is not deterministic.
func jsonSize(name string) int {
	n := len(`"",`)
	for _, b := range []byte(name) {
		switch {
		case b < ' ', strings.IndexByte(`"\&<>`, b) >= 0:
			n += len(`\u0026`)
		case b >= utf8.RuneSelf: // two line separators take three bytes in UTF-8, and six in JSON
			n += 2
		default:
			n++
		}
	}
	return n
}

// indexed returns the search attributes with which a child begins.
func indexed(venue string, more ...temporal.SearchAttributeUpdate) temporal.SearchAttributes {
	if some := venuesOf(venue); len(some) > 0 {
		more = append(more, attrVenues.ValueSet(some))
	}
	return temporal.NewSearchAttributes(more...)
}

// whatFor returns the description of a query, an update or a signal in the Temporal UI.
func whatFor(name string) string {
	switch name {
	case QueryStatus:
		return "how far it is, and what it waits for"
	case QueryProgress:
		return "what the crawl did so far"
	case UpdatePause:
		return "let it rest; what is under way is finished"
	case UpdateResume:
		return "let it go on"
	case UpdateRetryWhat:
		return `ask again for what failed: {"host", "reason", "older_than"}`
	case SignalSiteEnded:
		return "a site's crawl has ended, as that crawl tells"
	case SignalAskedAgain:
		return "it was asked for again after its end was on record: begin anew"
	case SignalWake:
		return "look again at once: it was resumed, retried, or given new URLs"
	}
	return ""
}

func query(ctx workflow.Context, name string, handler any) error {
	return workflow.SetQueryHandlerWithOptions(ctx, name, handler, workflow.QueryHandlerOptions{Description: whatFor(name)})
}

func update(ctx workflow.Context, name string, handler any) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, name, handler, workflow.UpdateHandlerOptions{Description: whatFor(name)})
}

func signals(ctx workflow.Context, name string) workflow.ReceiveChannel {
	return workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: whatFor(name)})
}

// waitFor waits until a condition holds, or a while; the summary names the reason.
func waitFor(ctx workflow.Context, summary string, while workflow.AwaitOptions, so func() bool) (bool, error) {
	while.TimerOptions.Summary = summary
	return workflow.AwaitWithOptions(ctx, while, so)
}

// endDetails describes the result of a harvest.
func endDetails(p activities.Harvest, s HarvestState, c activities.Counts, r report.Summary, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s — %s\n\n", p.ID, s.Stage)
	switch {
	case note != "":
		fmt.Fprintf(&b, "%s\n\n", note)
	case p.Goal.Site != "":
		fmt.Fprintf(&b, "**%d academic documents** of %d files\n\n", c.Accepted, c.Documents)
	default:
		fmt.Fprintf(&b, "**%d of %d wanted papers found** (recall %.1f %%), %d missing; %d published, %d held\n\n", r.Found, r.Wanted, 100*r.Recall, r.Missing, r.Published, r.Held)
	}
	writeCounts(&b, c)
	fmt.Fprintf(&b, "\nwhy: `starter report %s`\n", p.ID)
	return b.String()
}
