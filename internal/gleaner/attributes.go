package gleaner

// The search attributes by which harvests and sites are found in Temporal's UI.
const (
	VenueAttribute = "GleanerVenue"
	HostAttribute  = "GleanerHost"
	StageAttribute = "GleanerStage"
)

// SearchAttributes are those that a namespace must have: name → type.
func SearchAttributes() map[string]string {
	return map[string]string{VenueAttribute: "Keyword", HostAttribute: "Keyword", StageAttribute: "Keyword"}
}
