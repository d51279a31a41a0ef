package metadata

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
)

// doisAtOnce is how many DOIs one request asks for: the address stays short enough
// for every proxy.
const doisAtOnce = 40

// ByDOI lists what is registered under some DOIs, in no order. What is no paper, or
// not registered with Crossref, is absent.
func (c *Crossref) ByDOI(ctx context.Context, dois []string) ([]gleaner.Paper, error) {
	var out []gleaner.Paper
	for some := range slices.Chunk(dois, doisAtOnce) {
		var filter []string
		for _, doi := range some {
			if !strings.Contains(doi, ",") { // which ends a value there
				filter = append(filter, "doi:"+doi)
			}
		}
		if len(filter) == 0 {
			continue
		}
		works, err := c.all(ctx, url.Values{"filter": {strings.Join(filter, ",")}})
		if err != nil {
			return out, err
		}
		for _, w := range works {
			if p, ok := w.paper(""); ok {
				out = append(out, p)
			}
		}
	}
	return out, nil
}
