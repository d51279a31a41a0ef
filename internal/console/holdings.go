package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/metadata"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
)

// holdingsPath is where lists of papers are sent, which may be long (maxList).
const holdingsPath = "/holdings"

// What may be done with a list of holdings.
const (
	doPreview = "preview"
	doEnter   = "enter"
	doForget  = "forget"
)

// holdingsPage lists the lists of what the library holds, the last entered first, and says
// what became of one.
type holdingsPage struct {
	Lists []store.HeldSource `json:"lists"`
	List  *heldList          `json:"list,omitempty"`

	redirect
}

// heldList is a list that was looked at, entered or taken back.
type heldList struct {
	Name string `json:"name"`
	Did  string `json:"did"`
	store.Imported
	Wanted int                  `json:"wanted"` // papers that harvests look for, and that it names
	Holds  []store.HarvestPaper `json:"holds"`  // of these, at most pageSize
	Titles []store.HarvestPaper `json:"titles"` // its papers
	Wrong  []string             `json:"wrong"`  // what of it could not be read
	Unread []string             `json:"unread"` // headers of columns that are not read

	text string
}

// Text is the list as it was given.
func (l heldList) Text() string { return l.text }

func holdingsParams() []param {
	return []param{
		{name: "do", what: "what to do", one: []string{doPreview, doEnter, doForget}, required: true},
		{name: "name", what: "of the list (default: of the file); one of the same name is replaced"},
		{name: "list", what: "papers as BibTeX, RIS, CSV, JSON Lines, or DOIs, at most 8 MB"},
	}
}

func holdings(ctx context.Context, c *Console, _ *asked) (any, error) {
	all, err := c.App.DB.HeldSources(ctx)
	return holdingsPage{Lists: each.List(all)}, err
}

// changeHoldings looks at a list, enters it, or takes it back.
func changeHoldings(ctx context.Context, c *Console, a *asked) (any, error) {
	l, err := a.heldList()
	if err != nil {
		return nil, err
	}
	if l.Did == doForget {
		l.Gone, err = c.App.DB.ForgetHoldings(ctx, l.Name, false)
	} else {
		err = enter(ctx, c, l)
	}
	if l.Did != doPreview || err != nil {
		c.log.InfoContext(ctx, "console: holdings", "do", l.Did, "list", l.Name, "papers", l.Papers, "gone", l.Gone,
			"user", user(ctx), "error", err)
	}
	if err != nil {
		return nil, err
	}
	all, err := c.App.DB.HeldSources(ctx)
	p := holdingsPage{Lists: each.List(all), List: l}
	if l.Did != doPreview {
		p.redirect = redirect{holdingsPath, l.said()}
	}
	return p, err
}

// said is what became of it, in a line.
func (l heldList) said() string {
	if l.Did == doForget {
		return fmt.Sprintf("%s is taken back: %s not held any more.", l.Name, text.CountIs(l.Gone, "paper"))
	}
	s := fmt.Sprintf("%s is entered: %s held, %d of them new", l.Name, text.CountIs(l.Papers, "paper"), l.New)
	if l.Gone > 0 {
		s += fmt.Sprintf(", %d of before are not any more", l.Gone)
	}
	if len(l.Wrong) > 0 {
		s += fmt.Sprintf("; %d could not be read", len(l.Wrong))
	}
	return s + "."
}

// heldList is the list that a form or a file gives.
func (a *asked) heldList() (*heldList, error) {
	l := &heldList{Name: strings.TrimSpace(a.get("name")), Did: a.get("do"), text: a.get("list"), Wrong: []string{}, Unread: []string{}}
	l.Titles, l.Holds = []store.HarvestPaper{}, []store.HarvestPaper{}
	file, head, err := a.FormFile("file")
	switch {
	case err == nil:
		raw, err := io.ReadAll(biblio.Text(file))
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		if len(raw) > 0 && strings.TrimSpace(l.text) != "" {
			return nil, fmt.Errorf("%w: give a file, or the list itself, not both", errInput)
		}
		if len(raw) > 0 {
			l.text = string(raw)
		}
		if l.Name == "" {
			l.Name = head.Filename
		}
	case !errors.Is(err, http.ErrMissingFile) && !errors.Is(err, http.ErrNotMultipart):
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	switch {
	case l.Did != doForget && strings.TrimSpace(l.text) == "":
		return nil, fmt.Errorf("%w: the list is empty: choose a file, or paste a list", errInput)
	case l.Name == "":
		return nil, fmt.Errorf("%w: give the list a name, by which it can be changed and taken back", errInput)
	case l.Did != doForget && len(l.Name) > 200, !isText(l.Name):
		return nil, fmt.Errorf("%w: the name of a list has at most 200 bytes", errInput)
	case !isText(l.text):
		return nil, fmt.Errorf("%w: line %d is no text in UTF-8, but perhaps in Latin-1: save a spreadsheet as CSV UTF-8, and a list as UTF-8",
			errInput, badLine(l.text))
	}
	return l, nil
}

// isText reports whether the record can hold a text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// badLine is the number of the first line of a text that the record cannot hold.
func badLine(s string) (n int) {
	for line := range strings.Lines(s) {
		if n++; !isText(line) {
			break
		}
	}
	return n
}

// enter makes a list's papers held, or says what that would come to.
func enter(ctx context.Context, c *Console, l *heldList) error {
	over, err := c.searches.turn(ctx)
	if err != nil {
		return err
	}
	defer over()
	papers, wrong, err := metadata.ReadList(ctx, c.log, l.Name, strings.NewReader(l.text))
	var bad metadata.ErrBadAnswer
	switch {
	case errors.Is(err, biblio.ErrFormat):
		return fmt.Errorf("%w: neither BibTeX, RIS, JSON Lines nor DOIs, and no table with a column title", errInput)
	case errors.As(err, &bad):
		return fmt.Errorf("%w: too many of its papers are none, such as %q: %w", errInput, bad.URL, bad.Err)
	case err != nil:
		return err
	case len(papers) == 0 && len(wrong) == 0:
		return fmt.Errorf("%w: the list names no paper", errInput)
	case len(papers) == 0:
		return fmt.Errorf("%w: no paper could be read: %w", errInput, wrong)
	}
	l.Unread = append(l.Unread, biblio.Unread(l.Name, strings.NewReader(l.text))...)
	l.Wrong = each.Of(wrong, (*biblio.SyntaxError).Error)
	if l.Imported, err = c.App.DB.SaveHoldings(ctx, papers, l.Name, l.Did == doPreview, nil); err != nil {
		return err
	}
	l.Titles = each.Of(papers, titled)
	wanted, err := c.App.DB.Wanted(ctx)
	held := match.Held(wanted, papers)
	l.Wanted = len(held)
	for _, p := range wanted {
		if _, is := held[p.Key]; is && len(l.Holds) < pageSize {
			l.Holds = append(l.Holds, titled(p))
		}
	}
	return err
}

// titled is a paper as lists show it.
func titled(p gleaner.Paper) store.HarvestPaper {
	return store.HarvestPaper{Title: cmp.Or(p.Title, p.DOI), Year: p.Year, Authors: gleaner.Names(p.Authors)}
}
