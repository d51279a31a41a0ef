package gleaner

// The search attributes by which harvests and sites are found in Temporal's UI.
const (
	VenueAttribute   = "GleanerVenue"   // of a harvest or recrawl
	VenuesAttribute  = "GleanerVenues"  // of all that works for a venue, its sites too, which may serve several
	HostAttribute    = "GleanerHost"    // of a site
	StageAttribute   = "GleanerStage"   // where it stands
	OutcomeAttribute = "GleanerOutcome" // how it ended: of a harvest complete, cancelled or failed, of a site its state
)

// SearchAttributes are those that a namespace must have: name → type.
func SearchAttributes() map[string]string {
	return map[string]string{VenueAttribute: "Keyword", VenuesAttribute: "KeywordList", HostAttribute: "Keyword", StageAttribute: "Keyword", OutcomeAttribute: "Keyword"}
}
