package gleaner

// Venue is one conference or journal as catalogues know it.
type Venue struct {
	Key  string `json:"key"`  // DBLP's: "conf/webdb", "journals/jair"
	Name string `json:"name"` // short, as people write it: "WebDB"
	// Title is the full name, "" where no catalogue gave one.
	Title string `json:"title,omitempty"`
	// IDs are its names elsewhere: "issn" (several separated by commas),
	// "openalex" (S…), "acl" (the Anthology's venue id), "crossref" (a DOI prefix).
	IDs map[string]string `json:"ids,omitempty"`
}
