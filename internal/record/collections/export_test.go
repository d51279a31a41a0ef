package collections

// The queries of which tests look at the plan.
const (
	HostSQL = hostSQL
	BestSQL = bestSQL

	UnderWaySQL  = underWaySQL
	PagesReadSQL = pagesReadSQL
)
