package page

// Candidate is a link waiting to be asked for.
type Candidate struct {
	ID       int64   // order of discovery on the site; ties are broken by it. Never 0 where a link waits
	Link     Link    // as it stood where it was first found
	Parent   string  // URL of that page; "" for a seed
	Depth    int     // hops from the nearest seed
	OffSite  bool    // a lead: a document out of the site's scope
	Document bool    // its name (.pdf, .ps, .ps.gz, …), a page's metadata or a catalogue says that it is a document
	Wanted   float64 // 0–1: likeness of anchor or context to a wanted paper's title
	Queue    int     // assigned by Enter, stored with the row
	Priority float64 // assigned by Enter, stored with the row
	Mark     int     // assigned by Enter: the arm (group of like links) it belongs to, stored with the row
}
