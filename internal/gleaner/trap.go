package gleaner

// Trap is the rule by which a site is left (Chen 2008: a page relevancy rate below
// 5 % after 200 pages).
type Trap struct {
	After int     // pages; 0 is never
	Rate  float64 // the least share of relevant pages
}

// Is reports whether so many pages, so many of them relevant, are a trap's.
func (t Trap) Is(pages, relevant int) bool {
	return t.After > 0 && pages >= t.After && float64(relevant) < t.Rate*float64(pages)
}
