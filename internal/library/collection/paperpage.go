package collection

import (
	"context"
	"path"

	"gleaner/internal/document"
	"gleaner/internal/record/store"
)

const (
	// paperPageText and paperPageWords are the least that a page that is a whole
	// paper says; pages about papers (an abstract, a list of references) say less.
	paperPageText  = 6000 // bytes
	paperPageWords = 1200
	// likePaper is how like a wanted title the page's own must be.
	likePaper = 0.9
)

// AddPage keeps a web page that is itself a wanted paper, and reports whether it
// is one: its title is a wanted one, it has a paper's sections, and the title and
// an author stand at its top. titles are the page's title and first headings,
// size the length of its visible text in bytes. Every other page costs next to
// nothing and leaves no trace.
func (c *Collection) AddPage(ctx context.Context, f File, titles []string, size int) (Judgement, bool, error) {
	if size < paperPageText {
		return Judgement{}, false, nil
	}
	index, err := c.Wanted(ctx)
	if err != nil {
		return Judgement{}, false, err
	}
	like := 0.0
	for _, t := range titles {
		like = max(like, index.Likeness(t))
	}
	if like < likePaper {
		return Judgement{}, false, nil
	}
	name, media := path.Base(f.URL), f.Header.Get("Content-Type")
	if document.Sniff(name, media, f.Body) != document.HTML {
		return Judgement{}, false, nil
	}
	part := document.Part{Name: name, MediaType: media, Kind: document.HTML, Body: f.Body}
	text, err := c.reader.Read(ctx, part)
	if err != nil || text.Outcome != document.OK || text.Words() < paperPageWords {
		return Judgement{}, false, err
	}
	d := store.Document{FirstPages: firstPages(text), MetaTitle: clean(text.Title)}
	is := false
	for _, m := range matches(index, d, []store.Location{{URL: f.URL, Anchor: f.Anchor}}) {
		is = is || taken(m)
	}
	if !is {
		return Judgement{}, false, nil
	}
	sha, err := c.add(ctx, f, "", document.HTML, f.Body)
	if err != nil {
		return Judgement{}, false, err
	}
	j, err := c.JudgeInHand(ctx, InHand{sha, opened{name: name, media: media, body: f.Body, parts: []document.Part{part}}})
	return j, err == nil, err
}
