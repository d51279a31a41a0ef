// Package homepage finds where an author lives on the web, and says why.
//
// A Finder gathers candidates in order of trust (addresses that directories
// list, a search by name and venue, a search by name and title, links on
// co-authors' pages), looks at a bounded number of pages, turns what it sees
// into features, and decides by a logistic model whose weights are data
// (data/model.json). Every candidate is kept with the rule that decided it.
//
// The same web gives the same decision, whatever the timing: a Finder holds no
// state between authors, and what one author's homepage tells about another's
// is used only in a second pass (Search) over the completed first. A harvest and
// FindAll run the same Search, over the record and over memory.
//
// Search engines stand behind Searcher: SearXNG, Brave, Serper, and Local, an
// index over pages that were crawled already. Cached keeps their answers with
// their date and never passes a provider's budget.
package homepage
