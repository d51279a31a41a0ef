package harvest

import (
	"maps"
	"slices"
	"strings"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// landingsOfListing is how many landing pages in one directory make it worth a
// request to see whether the directory lists their documents.
const landingsOfListing = 5

// withListings adds the directories of landing pages, such as a volume of
// proceedings. A list that names the documents makes the landing pages needless,
// each of which is a request that brings no document.
func withListings(entries []frontier.Entry) []frontier.Entry {
	landings := map[string]int{}
	for _, e := range entries {
		if dir := directory(e.Link.URL); dir != "" && e.Role == frontier.Landing {
			landings[dir]++
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(landings)) {
		if landings[dir] >= landingsOfListing {
			entries = append(entries, frontier.Entry{Role: frontier.Landing, Candidate: page.Candidate{
				Link: page.Link{URL: dir, Source: page.SourceListing}, Queue: seedQueue, Priority: listingPriority}})
		}
	}
	return entries
}

// listingPriority brings a list before what it may list.
const listingPriority = seedPriority + 1

// directory is the URL of the directory that a page lies in, "" where that is the
// whole host or where a script makes the page.
func directory(url string) string {
	if strings.Contains(url, "?") {
		return ""
	}
	dir := weburl.Above(url)
	if strings.Count(dir, "/") < 4 { // scheme://host/
		return ""
	}
	return dir
}
