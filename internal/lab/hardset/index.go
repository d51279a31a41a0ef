package hardset

import (
	"context"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/lab/sampleweb"
)

// index makes the sample web's search engine one over crawled pages.
type index struct{ *sampleweb.Index }

func (x index) SearchPages(_ context.Context, terms []string, n int) ([]evidence.Result, error) {
	pages := x.Search(terms)
	out := make([]evidence.Result, min(n, len(pages)))
	for i := range out {
		out[i] = evidence.Result{URL: pages[i].URL, Title: pages[i].Title, Snippet: pages[i].Snippet()}
	}
	return out, nil
}
