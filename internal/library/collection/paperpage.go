package collection

import (
	"context"
	"path"
	"slices"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

const (
	// PaperPageText and paperPageWords are the least size of a page that is a whole paper; pages
	// about papers (an abstract, a list of references) are shorter.
	PaperPageText  = 6000 // bytes
	paperPageWords = 1200
	// likePaper is the least likeness of the page's title to a wanted one.
	likePaper = 0.9
)

// AddPage stores a page (HTML, XML or plain text) that is itself a paper, and reports whether it
// is one: it has a paper's sections, and either a wanted title at its top with an author, or the
// filter accepts it. titles are the page's title and first headings, visible is its text. Other
// pages are rejected cheaply and without a trace.
func (c *Collection) AddPage(ctx context.Context, f File, titles []string, visible string) (Judgement, bool, error) {
	if len(visible) < PaperPageText {
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
	if like < likePaper && (c.filter == nil || !sectioned(visible)) {
		return Judgement{}, false, nil
	}
	name, media := path.Base(f.URL), f.Header.Get("Content-Type")
	part := document.Part{Name: name, MediaType: media, Kind: document.Sniff(name, media, f.Body), Body: f.Body}
	switch part.Kind {
	case document.HTML, document.XML, document.PlainText:
	default:
		return Judgement{}, false, nil
	}
	text, err := c.reader.Read(ctx, part)
	if err != nil || text.Outcome != document.OK || text.Words() < paperPageWords || !text.Sectioned() {
		return Judgement{}, false, err
	}
	is := like < likePaper && c.filtered(text, document.Hints{Name: f.URL, Anchor: f.Anchor}).Academic
	d := store.Document{FirstPages: firstPages(text), MetaTitle: clean(text.Title)}
	for _, m := range matches(index, d, []store.Location{{URL: f.URL, Anchor: f.Anchor}}) {
		is = is || taken(m)
	}
	if !is {
		return Judgement{}, false, nil
	}
	if f.Trial {
		return Judgement{State: gleaner.DocumentAccepted, Outcome: string(document.OK)}, true, nil
	}
	one := []stock{{file: f, kind: part.Kind, content: &opened{name: name, media: media, body: f.Body, parts: []document.Part{part}}}}
	if err := c.add(ctx, one); err != nil {
		return Judgement{}, false, err
	}
	j, err := c.Judge(ctx, Document{one[0].sha256, one[0].content}, Once)
	if Later(err) { // stored, and judged later
		err = nil
	}
	return j, err == nil, err
}

// sectioned reports whether a page's text may have a paper's sections: words of first sections
// near its start, and of references after them.
func sectioned(visible string) bool {
	front, rest := visible[:len(visible)/3], visible[len(visible)/3:]
	return hasOne(front, "Abstract", "ABSTRACT", "Introduction", "INTRODUCTION") && hasOne(rest, "References", "REFERENCES", "Bibliography", "BIBLIOGRAPHY")
}

func hasOne(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
