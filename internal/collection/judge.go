package collection

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/match"
	"gleaner/internal/store"
)

// firstPagesLimit bounds what is kept of a document's text in its row, in bytes:
// enough to match it again, without its file, against papers wanted later.
const firstPagesLimit = 16 << 10

// Judgement is what was decided of one document.
type Judgement struct {
	State   string // accepted, rejected or failed
	Outcome string
	Class   string
	Matched []store.Found
}

// Academic reports whether the document was accepted.
func (j Judgement) Academic() bool { return j.State == "accepted" }

// Found reports whether it is a wanted paper.
func (j Judgement) Found() bool {
	for _, m := range j.Matched {
		if (m.Verdict == "exact" || m.Verdict == "strong") && isPaperForm(m.Form) {
			return true
		}
	}
	return false
}

func isPaperForm(form string) bool {
	return form == "paper" || form == "preprint" || form == "extended"
}

// Judge reads a stored document, filters it and matches it against every wanted
// paper, and records the result. A file that cannot be read is rejected with the
// reason; an error is the system's (the blob is gone, the database is away).
func (c *Collection) Judge(ctx context.Context, sha string) (Judgement, error) {
	d, places, err := c.db.Document(ctx, sha)
	if err != nil {
		return Judgement{}, err
	}
	body, err := c.repo.Read(ctx, sha)
	if err != nil {
		return Judgement{}, fmt.Errorf("collection: %s: %w", sha, err)
	}
	var at store.Location
	if len(places) > 0 {
		at = places[0]
	}
	text, kind, err := c.read(ctx, at, body)
	if err != nil {
		return Judgement{}, fmt.Errorf("collection: %s: %w", sha, err)
	}
	d.Kind, d.Outcome, d.Reader, d.Pages = string(kind), string(text.Outcome), text.Reader, text.PageCount
	if !text.HasText() {
		d.State, d.Reasons, d.Class, d.Score, d.FirstPages, d.Print = "rejected", []string{string(text.Outcome)}, "", 0, "", 0
		return Judgement{State: d.State, Outcome: d.Outcome}, c.db.SaveJudgement(ctx, d, nil)
	}
	return c.judgeText(ctx, d, at, text)
}

func (c *Collection) read(ctx context.Context, at store.Location, body []byte) (*document.Text, document.Kind, error) {
	name := path.Base(at.URL)
	if at.Member != "" {
		name = at.Member
	}
	parts, err := document.Unpack(name, at.Header["Content-Type"], body, document.Limits{})
	var bad *document.UnpackError
	if len(parts) == 0 && errors.As(err, &bad) {
		return &document.Text{Outcome: bad.Outcome}, document.Sniff(name, "", body), nil
	}
	for _, p := range parts {
		if p.Kind.IsDocument() {
			t, err := c.reader.Read(ctx, p)
			return t, p.Kind, err
		}
	}
	return &document.Text{Outcome: document.NotADocument}, document.Sniff(name, at.Header["Content-Type"], body), nil
}

func (c *Collection) judgeText(ctx context.Context, d store.Document, at store.Location, text *document.Text) (Judgement, error) {
	j := c.filter.Judge(text, document.Hints{Name: path.Base(at.URL), Anchor: at.Anchor})
	d.Class, d.Score, d.Reasons = string(j.Class), j.Score, j.Reasons
	d.FirstPages, d.MetaTitle = firstPages(text), clean(text.Title)
	d.References = document.CountReferences(text)
	d.Print = int64(fingerprint(text))
	index, err := c.Wanted(ctx)
	if err != nil {
		return Judgement{}, err
	}
	found := matches(index, d, at)
	out := Judgement{State: "rejected", Outcome: d.Outcome, Class: d.Class, Matched: found}
	// A document that is a wanted paper is kept whatever the filter says of it.
	if j.Academic || out.Found() {
		out.State = "accepted"
	}
	d.State = out.State
	return out, c.db.SaveJudgement(ctx, d, found)
}

// pageBreak stands between the kept first pages.
const pageBreak = "\f"

func firstPages(t *document.Text) string {
	pages := t.Pages
	if len(pages) > 2 {
		pages = pages[:2]
	}
	s := clean(strings.Join(pages, pageBreak))
	if len(s) > firstPagesLimit {
		s = strings.ToValidUTF8(s[:firstPagesLimit], "")
	}
	return s
}

// clean drops what a text column cannot hold.
func clean(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "") }

func matches(index *match.Index, d store.Document, at store.Location) []store.Found {
	var out []store.Found
	for _, m := range index.Document(match.Evidence{FirstPages: d.FirstPages, MetaTitle: d.MetaTitle, FileName: path.Base(at.URL),
		Anchor: at.Anchor, Context: at.Context}) {
		out = append(out, store.Found{Paper: m.Paper.Key, Verdict: string(m.Verdict), Score: m.Score, Form: string(m.Form), Reasons: m.Reasons})
	}
	return out
}

// Rematch matches every document with text against the papers wanted now. It is
// how a newly wanted paper is looked for among what the library found already.
func (c *Collection) Rematch(ctx context.Context, report func(done int)) (int, error) {
	c.wanted.mu.Lock()
	c.wanted.asked = c.wanted.asked.Add(-askAgain)
	c.wanted.mu.Unlock()
	index, err := c.Wanted(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	err = c.db.EachReadable(ctx, func(d store.Document) error {
		_, places, err := c.db.Document(ctx, d.SHA256)
		if err != nil {
			return err
		}
		var at store.Location
		if len(places) > 0 {
			at = places[0]
		}
		if n++; n%100 == 0 {
			report(n)
		}
		return c.rematch(ctx, index, d, at)
	})
	return n, err
}

func (c *Collection) rematch(ctx context.Context, index *match.Index, d store.Document, at store.Location) error {
	found := matches(index, d, at)
	if err := c.db.SaveMatches(ctx, d.SHA256, found); err != nil {
		return err
	}
	if d.State == "rejected" && (Judgement{Matched: found}).Found() {
		d.State = "accepted"
		return c.db.SaveJudgement(ctx, d, found)
	}
	return nil
}
