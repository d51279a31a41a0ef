package evidence

import (
	"strings"
	"time"
)

// Page is what the local index keeps of a page that was crawled already.
type Page struct {
	URL, Title, Text string
}

// snippetBytes is how much of a page's text is shown with a result.
const snippetBytes = 300

// Snippet is the beginning of the page's text.
func (p Page) Snippet() string {
	if len(p.Text) > snippetBytes {
		return strings.ToValidUTF8(p.Text[:snippetBytes], "")
	}
	return p.Text
}

// Result is one answer of a search engine.
type Result struct {
	URL      string `json:"url"`
	Title    string `json:"title"`
	Snippet  string `json:"snippet,omitempty"`
	Provider string `json:"provider"`
	Rank     int    `json:"rank"` // from 1
}

// Answer is a search answer as it is kept.
type Answer struct {
	Results []Result  `json:"results"`
	At      time.Time `json:"at"`
}
