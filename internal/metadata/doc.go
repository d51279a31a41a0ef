// Package metadata knows what was published and where open copies of it lie. It
// asks outside catalogues (DBLP above all, then Crossref, OpenAlex, Semantic
// Scholar, the ACL Anthology, OAI-PMH repositories, arXiv, Unpaywall, ORCID),
// each through a small type made from one Config:
//
//	cfg := metadata.Config{Contact: "librarian@library.example.org", Gate: gate}
//	d := metadata.NewDBLP(cfg)
//	v, err := d.ResolveVenue(ctx, "WebDB")
//	papers, err := d.List(ctx, v, venue.Years{From: 1998, To: 2004}, func(done, of int) {})
//
// It stores nothing and promises three things. Every request, retries and
// redirects included, takes a turn of its host (fetch.Gate), so that a limit
// holds across all workers. A list is whole or an error: a source that ends
// early or answers with a wall says so. And every failure has a type that says
// whether asking again helps, and when.
package metadata
