package crawl

import (
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// maxFiles is how many files of one page are put on record as linked there: more
// than all the papers of a busy life.
const maxFiles = 1000

// files are those that a page links to, taken or not, on whatever host: what turns
// out to be a paper may have been found by another page, and this one leads there
// as well.
func files(e *frontier.Entry, p *page.Page) (of []frontier.Hash) {
	var met map[frontier.Hash]bool // made for the few pages that need it
	for link := range p.Files() {
		if met == nil {
			met = map[frontier.Hash]bool{e.Hash(): true}
		}
		if h := frontier.HashOf(link.URL); !met[h] {
			met[h] = true
			of = append(of, h)
		}
		if len(of) == maxFiles {
			break
		}
	}
	return of
}
