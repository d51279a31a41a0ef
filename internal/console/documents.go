package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// documentsPage lists documents in the order in which they came.
type documentsPage struct {
	State     string         `json:"state,omitempty"`
	Class     string         `json:"class,omitempty"`
	Site      string         `json:"site,omitempty"`
	Venue     string         `json:"venue,omitempty"`
	Text      string         `json:"text,omitempty"`
	Documents []store.Listed `json:"documents"`
	Looked    int            `json:"texts_read,omitempty"` // most documents whose texts were looked through for this page, where words were given
	Next      string         `json:"next,omitempty"`
}

// Title implements titled.
func (documentsPage) Title() string { return "Documents" }

// States are what became of a document.
func (documentsPage) States() []string { return documentStates() }

func documentStates() (all []string) {
	for _, s := range []gleaner.DocumentState{gleaner.DocumentNew, gleaner.DocumentAccepted, gleaner.DocumentRejected, gleaner.DocumentFailed} {
		all = append(all, string(s))
	}
	return all
}

func documents(ctx context.Context, c *Console, a *asked) (titled, error) {
	p := documentsPage{State: a.get("state"), Class: a.get("class"), Site: a.get("site"), Venue: a.get("venue"), Text: a.get("text")}
	q := store.DocumentQuery{Host: p.Site, Venue: p.Venue, Text: p.Text, After: int64(a.number("after")), Limit: pageSize + 1}
	if p.State != "" {
		q.States = []string{p.State}
	}
	if p.Class != "" {
		q.Classes = []string{p.Class}
	}
	if p.Text != "" {
		var err error
		if q.Until, p.Looked, err = c.App.DB.DocumentsThrough(ctx, q, textsRead); err != nil {
			return nil, err
		}
	}
	rows, err := c.App.DB.FindDocuments(ctx, q)
	p.Documents, p.Next = more(rows, func(d store.Listed) string { return strconv.FormatInt(d.ID, 10) })
	if p.Next == "" && p.Looked == textsRead {
		p.Next = strconv.FormatInt(q.Until, 10)
	}
	return p, err
}

// textsRead is how many documents' texts are looked through for the words of one page: no
// index serves them.
const textsRead = 10_000

// documentPage is one document: where it is from, what it is, and how it begins.
type documentPage struct {
	collection.Sheet
	Begins string `json:"begins"`
}

// Title implements titled.
func (p documentPage) Title() string {
	if p.MetaTitle != "" {
		return p.MetaTitle
	}
	return "Document " + p.SHA256[:min(len(p.SHA256), 12)]
}

// Drawn reports whether a picture of its first page can be had.
func (p documentPage) Drawn() bool { return p.Kind == string(document.PDF) && p.Removed == nil }

// begins is how many characters of a document's text a page shows.
const begins = 3000

func oneDocument(ctx context.Context, c *Console, a *asked) (titled, error) {
	s, err := collection.SheetOf(ctx, c.App.DB, c.App.Repo, a.get("sha256"))
	if err != nil {
		return nil, err
	}
	s.Path = "" // of the machine
	s.Locations, s.Matches = listed(s.Locations), listed(s.Matches)
	text := []rune(s.FirstPages)
	return documentPage{s, string(text[:min(len(text), begins)])}, nil
}

// picture serves the first page of a document as a PNG.
func (c *Console) picture(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	png, err := c.collection.Picture(ctx, r.PathValue("sha256"))
	if errors.Is(err, document.ErrNoPicture) || errors.Is(err, repository.ErrNotFound) || errors.Is(err, repository.ErrDigest) {
		err = errNoPage
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "private, max-age=86400")
	_, _ = w.Write(png) // #nosec G705 -- a picture, by its type and nosniff
}
