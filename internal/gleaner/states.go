package gleaner

// Stage is where a harvest stands.
type Stage string

// The stages of a harvest, in order, and its three ends.
const (
	StagePapers    Stage = "papers"    // list what was published, subtract what is held
	StageHeld      Stage = "held"      // look among the documents found before
	StageCopies    Stage = "copies"    // locate open copies, and fetch them
	StageHomepages Stage = "homepages" // find where the authors live
	StageCrawl     Stage = "crawl"     // crawl there, and follow what leads off
	StageReport    Stage = "report"
	StageComplete  Stage = "complete"
	StageCancelled Stage = "cancelled"
	StageFailed    Stage = "failed"
)

// SiteState is what became of the crawl of a site. One that a limit ended is in
// the state of that limit's name (crawl.Ending).
type SiteState string

// The states of a site.
const (
	SiteNew      SiteState = "new"      // waits for its crawl
	SiteCrawling SiteState = "crawling" // slices of it are under way or due
	SiteDone     SiteState = "done"     // nothing waits
	SiteTrap     SiteState = "trap"     // it makes pages without end
	SiteRefused  SiteState = "refused"  // its robots.txt cannot be read
	SiteStopped  SiteState = "stopped"  // its host is out, or its crawl failed or was ended
)

// SiteStates returns the states of a site.
func SiteStates() []string {
	return []string{string(SiteNew), string(SiteCrawling), string(SiteDone), string(SiteStopped), string(SiteRefused), string(SiteTrap)}
}

// DocumentState is what became of a document.
type DocumentState string

// The states of a document.
const (
	DocumentNew      DocumentState = "new"      // fetched, and not examined yet
	DocumentAccepted DocumentState = "accepted" // of the collection
	DocumentRejected DocumentState = "rejected" // examined, and not of it
	DocumentFailed   DocumentState = "failed"   // could not be examined
)

// Reasons for which a site is stopped that lists leave out.
const (
	Blacklisted = "the host is on the blacklist"  // a reason of a person's may follow
	Unblocked   = "the host was on the blacklist" // likewise, after it was taken off
	SitePaused  = "paused by a person"            // likewise
	NotListed   = "the domain is not on the whitelist"
)

// SetByHand names who set the pause between two requests to a host where a person did.
const SetByHand = "set by hand"
