package rank

// Prior is what gleaner believes before it has seen anything of a site.
type Prior struct{}
