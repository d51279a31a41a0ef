package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/each"
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

// Called is the title by which a document is listed.
func (documentsPage) Called(d store.Listed) string {
	return documentTitle(d.Document, d.Title, store.Location{URL: d.URL, Anchor: d.Anchor})
}

func documentStates() []string {
	return each.Text([]gleaner.DocumentState{gleaner.DocumentNew, gleaner.DocumentAccepted, gleaner.DocumentRejected,
		gleaner.DocumentFailed})
}

func documents(ctx context.Context, c *Console, a *asked) (any, error) {
	p := documentsPage{State: a.get("state"), Class: a.get("class"), Site: a.get("site"), Venue: a.get("venue"), Text: a.get("text")}
	q := store.DocumentQuery{Host: p.Site, Venue: p.Venue, Text: p.Text, After: int64(a.number("after")), Limit: pageSize + 1}
	if p.State != "" {
		q.States = []string{p.State}
	}
	if p.Class != "" {
		q.Classes = []string{p.Class}
	}
	if p.Text != "" {
		over, err := c.searches.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer over()
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

// How much of what takes long goes on at a time; others wait.
const (
	searchesATime = 2
	exportsATime  = 4
)

// turns bounds how much of something goes on at a time; one user has half of it at most.
type turns struct {
	all chan struct{}
	mu  sync.Mutex
	of  map[string]chan struct{} // by user
}

func newTurns(atATime int) *turns {
	return &turns{all: make(chan struct{}, atATime), of: map[string]chan struct{}{}}
}

// turn waits for a place, which over gives back.
func (t *turns) turn(ctx context.Context) (over func(), err error) {
	places := []chan struct{}{t.all}
	if name := user(ctx); name != "" { // else nobody is told apart
		t.mu.Lock()
		if t.of[name] == nil {
			t.of[name] = make(chan struct{}, cap(t.all)/2)
		}
		places = []chan struct{}{t.of[name], t.all}
		t.mu.Unlock()
	}
	for i, place := range places {
		select {
		case place <- struct{}{}:
		case <-ctx.Done():
			leave(places[:i])
			return nil, ctx.Err()
		}
	}
	return func() { leave(places) }, nil
}

func leave(places []chan struct{}) {
	for _, place := range places {
		<-place
	}
}

// documentPage is one document: where it is from, what it is, and how it begins.
type documentPage struct {
	collection.Sheet
	Begins string            `json:"begins"`
	Titles map[string]string `json:"titles"` // of the papers that it was matched with, by key
	Also   []string          `json:"also"`   // titles of papers that it is beside the first

	title string
}

func (p documentPage) Title() string { return p.title }

// documentTitle is a title by which people can tell a document apart: of the paper that
// it is, else its own, else the name of its file.
func documentTitle(d store.Document, paper string, at store.Location) string {
	file, _, _ := strings.Cut(at.URL, "?")
	return cmp.Or(paper, store.DocumentTitle(at.Anchor, d.FirstPages, d.MetaTitle), file[strings.LastIndexByte(file, '/')+1:], "Document "+d.SHA256[:min(len(d.SHA256), 12)])
}

// Drawn reports whether a picture of its first page can be had.
func (p documentPage) Drawn() bool { return p.Kind == string(document.PDF) && p.Removed == nil }

// begins is how many characters of a document's text a page shows.
const begins = 3000

func oneDocument(ctx context.Context, c *Console, a *asked) (any, error) {
	s, err := collection.SheetOf(ctx, c.App.DB, c.App.Repo, a.get("sha256"))
	if err != nil {
		return nil, err
	}
	s.Path = "" // of the machine
	s.Locations, s.Matches = each.List(s.Locations), each.List(s.Matches)
	text := []rune(s.FirstPages)
	is, err := c.App.DB.PaperOf(ctx, s.SHA256)
	if err != nil {
		return nil, err
	}
	at := store.Location{}
	if len(s.Locations) > 0 {
		at = s.Locations[0]
	}
	title := documentTitle(s.Document, is.Title, at)
	titles := map[string]string{}
	for _, m := range s.Matches {
		p, err := c.App.DB.Paper(ctx, m.Paper)
		if err != nil {
			return nil, err
		}
		titles[m.Paper] = p.Title
	}
	also, err := store.AlsoPapers(ctx, c.App.DB, is.Key, s.SHA256)
	return documentPage{s, string(text[:min(len(text), begins)]), titles, each.List(also), title}, err
}

// file serves a stored document, to be saved: what a stranger wrote is never shown as a
// page of the console.
func (c *Console) file(w http.ResponseWriter, r *http.Request) {
	d, _, err := c.App.DB.Document(r.Context(), r.PathValue("sha256"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	stored, err := c.App.Repo.Get(r.Context(), d.SHA256)
	if errors.Is(err, repository.ErrNotFound) {
		err = fmt.Errorf("%w: the file of this document is not stored", errNoPage)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	defer func() { _ = stored.Close() }()
	mediaType := "application/octet-stream"
	if d.Kind == string(document.PDF) {
		mediaType = "application/pdf"
	}
	download(c.log, w, r, Export{
		Name:      d.SHA256[:min(len(d.SHA256), 12)] + "." + repository.Extension(d.Kind),
		MediaType: mediaType,
		Write: func(w io.Writer) error {
			_, err := io.Copy(w, stored)
			return err
		},
	})
}

// fileRules let nothing of a downloaded file run, should a browser show it.
const fileRules = "default-src 'none'; sandbox"

// download answers with a file to be saved. A client that takes nothing for linesTime
// is left; a file that cannot be written whole ends the connection, so that nobody takes
// a part for the whole.
func download(log *slog.Logger, w http.ResponseWriter, r *http.Request, file Export) {
	w.Header().Set("Content-Type", file.MediaType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}))
	w.Header().Set("Content-Security-Policy", fileRules)
	if err := file.Write(unhurried{w, http.NewResponseController(w), time.Now().Add(downloadTime)}); err != nil {
		log.WarnContext(r.Context(), "console: a file was cut off", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// linesTime is how long the taking of a piece of a file may last.
const linesTime = answerTime + readTime

// downloadTime is how long a whole file may take, so that a client that takes a little now
// and then does not keep others from theirs.
const downloadTime = time.Hour

// unhurried gives each write its own time, as long as there is any left.
type unhurried struct {
	io.Writer
	connection *http.ResponseController
	until      time.Time
}

func (u unhurried) Write(p []byte) (int, error) {
	if time.Now().After(u.until) {
		return 0, context.DeadlineExceeded
	}
	_ = u.connection.SetWriteDeadline(time.Now().Add(linesTime)) // in vain where there is no connection
	return u.Writer.Write(p)
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
