package stats

import (
	"cmp"
	"context"
	"slices"

	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// Citations returns the citations of papers, by DOI in lower case.
type Citations interface {
	Name() string
	Cited(ctx context.Context, dois []string) (map[string]int64, error)
}

// rankDomains ranks domains by F₁ = 2·p_d·p_c / (p_d + p_c) (Wu et al., WebSci 2012, equation 1).
// List D are the size domains with the most documents, List C those with the most citations; the
// core is on both. p_d and p_c are a domain's shares of the documents of List D and of the
// citations of List C. Without citations, domains are ranked by documents alone and all of List D
// is core.
func rankDomains(documents map[string]int, citations map[string]int64, size int) []store.DomainRank {
	var ranks []store.DomainRank
	for d, n := range documents {
		ranks = append(ranks, store.DomainRank{Domain: d, Documents: n, Citations: citations[d]})
	}
	byCitations := func(a, b store.DomainRank) int {
		return cmp.Or(cmp.Compare(b.Citations, a.Citations), cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Domain, b.Domain))
	}
	byDocuments := func(a, b store.DomainRank) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(b.Citations, a.Citations), cmp.Compare(a.Domain, b.Domain))
	}
	var ofD, ofC float64
	inC := map[string]bool{}
	slices.SortFunc(ranks, byCitations)
	for _, r := range ranks[:min(size, len(ranks))] {
		inC[r.Domain] = r.Citations > 0
		ofC += float64(r.Citations)
	}
	slices.SortFunc(ranks, byDocuments)
	for _, r := range ranks[:min(size, len(ranks))] {
		ofD += float64(r.Documents)
	}
	for i := range ranks {
		r := &ranks[i]
		r.PDocuments = float64(r.Documents) / ofD
		if ofC > 0 {
			r.PCitations = float64(r.Citations) / ofC
			r.F1 = 2 * r.PDocuments * r.PCitations / (r.PDocuments + r.PCitations)
		}
		switch inD := i < size; {
		case inD && (inC[r.Domain] || ofC == 0):
			r.List = "core"
		case inD:
			r.List = "D"
		case inC[r.Domain]:
			r.List = "C"
		}
	}
	slices.SortStableFunc(ranks, func(a, b store.DomainRank) int { return cmp.Compare(b.F1, a.F1) })
	for i := range ranks {
		ranks[i].Rank = i + 1
	}
	return ranks
}

// order returns the parent pages on the listed domains, those of the best domain first, and for
// each domain those with the most documents first.
func order(ranks []store.DomainRank, pages []store.ParentPage, o Lists) []store.ListedURL {
	rank := map[string]int{}
	for _, r := range ranks {
		if o.has(r) {
			rank[r.Domain] = r.Rank
		}
	}
	var out []store.ListedURL
	for _, p := range pages {
		d := weburl.Domain(weburl.Host(p.URL))
		if rank[d] > 0 && p.Documents >= o.Least {
			out = append(out, store.ListedURL{URL: p.URL, Domain: d, Documents: p.Documents})
		}
	}
	slices.SortFunc(out, func(a, b store.ListedURL) int {
		return cmp.Or(cmp.Compare(rank[a.Domain], rank[b.Domain]), cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.URL, b.URL))
	})
	for i := range out {
		out[i].Position = i + 1
	}
	return out
}

// Lists select the domains and pages of a whitelist.
type Lists struct {
	Domains int  `json:"domains"`           // size of lists D and C
	Uncited bool `json:"uncited,omitempty"` // domains on list D alone as well, which the paper drops as not academic
	Least   int  `json:"least"`             // least number of accepted documents linked from a page
	// Ingested counts only those accepted documents that the library imported.
	Ingested bool `json:"ingested,omitempty"`
}

func (o Lists) has(r store.DomainRank) bool {
	return r.List == "core" || r.List == "C" || o.Uncited && r.List == "D"
}

// Generated sums up a generated whitelist.
type Generated struct {
	Domains   int   `json:"domains"`
	Core      int   `json:"core"`
	Listed    int   `json:"listed"` // domains whose pages are listed
	URLs      int   `json:"urls"`
	Documents int   `json:"documents"`
	Citations int64 `json:"citations"`
}

// Generate ranks the domains of the record and replaces the generated whitelist.
// source, if given, is queried for the citations of the accepted papers. Citations from a
// user's file (SaveCitations) count for the domain itself. report, if given, is called with
// the number of papers queried, of how many.
func Generate(ctx context.Context, db *store.DB, source Citations, o Lists, report func(done, of int)) (Generated, error) {
	if source != nil {
		done := 0
		err := AskCitations(ctx, db, source, o, "", citationBatch, func(_ string, n, of int) error {
			if done += n; report != nil {
				report(done, of)
			}
			return nil
		})
		if err != nil {
			return Generated{}, err
		}
	}
	yields, err := db.Yields(ctx, o.Ingested)
	if err != nil {
		return Generated{}, err
	}
	known, err := db.Citations(ctx)
	if err != nil {
		return Generated{}, err
	}
	documents, citations := perDomain(yields, known)
	ranks := rankDomains(documents, citations, o.Domains)
	pages, err := db.ParentPages(ctx, o.Ingested)
	if err != nil {
		return Generated{}, err
	}
	urls := order(ranks, pages, o)
	g := Generated{Domains: len(ranks), URLs: len(urls)}
	for _, r := range ranks {
		g.Documents += r.Documents
		g.Citations += r.Citations
		if r.List == "core" {
			g.Core++
		}
		if o.has(r) {
			g.Listed++
		}
	}
	return g, db.SaveWhitelist(ctx, ranks, urls)
}

// citationBatch is the number of papers per query for citations, and per write.
const citationBatch = 500

// AskCitations queries the citations of accepted papers, in the order of their DOIs from after
// on, and stores them in batches of some. It calls asked after each batch with the last DOI, the
// number of papers in it, and the total number.
func AskCitations(ctx context.Context, db *store.DB, source Citations, o Lists, after string, some int,
	asked func(last string, n, of int) error,
) error {
	yields, err := db.Yields(ctx, o.Ingested)
	if err != nil {
		return err
	}
	var dois []string
	for _, y := range yields {
		dois = append(dois, y.DOIs...)
	}
	slices.Sort(dois)
	dois = slices.Compact(dois)
	left := slices.IndexFunc(dois, func(doi string) bool { return doi > after })
	if left < 0 {
		return nil
	}
	for some := range slices.Chunk(dois[left:], some) {
		cited, err := source.Cited(ctx, some)
		if err != nil {
			return err
		}
		if err := db.SaveCitations(ctx, source.Name(), cited); err != nil {
			return err
		}
		if err := asked(some[len(some)-1], len(some), len(dois)); err != nil {
			return err
		}
	}
	return nil
}

// perDomain returns the documents and citations of each domain.
func perDomain(yields []store.DomainYield, known map[string]int64) (documents map[string]int, citations map[string]int64) {
	documents, citations = map[string]int{}, map[string]int64{}
	for _, y := range yields {
		documents[y.Domain] = y.Documents
		citations[y.Domain] = known[y.Domain]
		for _, doi := range y.DOIs {
			citations[y.Domain] += known[doi]
		}
	}
	return documents, citations
}
