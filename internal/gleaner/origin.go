package gleaner

// Origin says where the fields of a paper come from that several sources list.
type Origin struct {
	// IDs are its names in each catalogue, by kind: "dblp", "doi", "arxiv",
	// "openalex", "acl", …
	IDs map[string]string `json:"ids,omitempty"`
	// From names, for each field of Paper, the sources that gave its value:
	// "title", "year", "authors", "doi", "arxiv", "pages", "links".
	From map[string][]string `json:"from,omitempty"`
	// Sources list the paper, in the order of trust.
	Sources []string `json:"sources,omitempty"`
	// Why says what made records of several sources one.
	Why []string `json:"why,omitempty"`
	// Differ holds what other sources say otherwise, as "source: value".
	Differ map[string][]string `json:"differ,omitempty"`
}
