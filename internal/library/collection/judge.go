package collection

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
)

// firstPagesLimit is the length in bytes of a document's text in its row: enough to match it with
// later wanted papers without its file.
const firstPagesLimit = 16 << 10

// unread is the outcome of a document that is stored unread.
const unread = "unread"

// Judgement is the result of judging one document.
type Judgement struct {
	State   gleaner.DocumentState // accepted, rejected or failed
	Outcome string
	Class   string
	Matched []store.Found
	// Overruled means that the filter rejected the document before, and it is accepted without
	// it.
	Overruled bool
}

// Academic reports whether the document was accepted.
func (j Judgement) Academic() bool { return j.State == gleaner.DocumentAccepted }

// Found reports whether the document is a wanted paper.
func (j Judgement) Found() bool { return len(j.Papers()) > 0 }

// Papers returns the keys of the wanted papers that it is.
func (j Judgement) Papers() []string {
	var keys []string
	for _, m := range j.Matched {
		if taken(m) {
			keys = append(keys, m.Paper)
		}
	}
	return keys
}

// Mode selects what Judge reuses from the record, and whether it recognises characters.
type Mode int

const (
	// Once matches a document that was judged before against the wanted papers, and does not
	// read it again, unless the filter was on then and is off now, or the reverse.
	Once Mode = iota
	// Quick is Once without recognising letters in pictures of pages, which takes as long as
	// a hundred other documents. Such a document returns ErrUnrecognised and waits for
	// JudgeWaiting, behind all others; so does one that is to be judged alone (errAlone).
	Quick
	// Again reads and judges a document whatever is on record: the filter was trained anew,
	// or another reader was installed. It returns store.ErrPruned if the file was deleted on
	// purpose.
	Again
)

// Judge reads a document, filters it, matches it against every wanted paper and records
// the result. A file that cannot be read is rejected with the reason; one whose blob is
// missing has failed. An error is the system's.
func (c *Collection) Judge(ctx context.Context, doc Document, mode Mode) (Judgement, error) {
	return c.judgeWhen(ctx, doc, mode, mode != Quick && doc.content == nil)
}

// content returns the content of a document with this place. The caller must call release.
func (c *Collection) content(ctx context.Context, doc Document, at store.Location) (o opened, release func(), err error) {
	if doc.content != nil {
		return *doc.content, func() {}, nil
	}
	body, err := c.repo.Read(ctx, doc.SHA256)
	if err != nil {
		return opened{}, func() {}, err
	}
	return c.open(ctx, at.URL, cmp.Or(at.Member, path.Base(at.URL)), at.Header["Content-Type"], body)
}

// ErrStalled is returned for a document whose reader was stopped before it had used its
// processor time: the machine was busy or short of memory, for which no file is rejected.
// The document waits to be examined again.
var ErrStalled = errors.New("its reader was stopped before its time was over")

// ErrUnrecognised is returned for a document of pictures of pages, or of unreadable
// letters, which waits for character recognition.
var ErrUnrecognised = errors.New("it waits to be recognised")

// getter returns the content of a document with this place. The caller must call release.
type getter func(at store.Location) (o opened, release func(), err error)

// examine judges a document with the wanted papers of now. A panic over it is recorded as
// its failure.
func (c *Collection) examine(ctx context.Context, d store.Document, places []store.Location, get getter) (Judgement, error) {
	started := time.Now()
	j, err := c.untilFresh(ctx, func() (j Judgement, err error) {
		err = guard.Logged(ctx, c.log, d.SHA256, func() error { j, err = c.judge(ctx, d, places, get); return err })
		return j, err
	})
	if err == nil {
		c.judged(j, time.Since(started))
	}
	if err == nil || ctx.Err() != nil {
		return j, err
	}
	return c.failed(ctx, d, err)
}

func (c *Collection) judge(ctx context.Context, d store.Document, places []store.Location, get getter) (Judgement, error) {
	var at store.Location
	if len(places) > 0 {
		at = places[0]
	}
	if reason, is := unwelcome(d, places); is && c.names && c.filter != nil {
		d.State, d.Outcome, d.Detail = gleaner.DocumentRejected, string(document.Unwelcome), reason
		d.Reasons, d.Class, d.Score, d.FirstPages = []string{d.Outcome}, "", 0, ""
		return c.save(ctx, d, places, nil, nil, 0)
	}
	index, version, err := c.wanted.get(ctx)
	if err != nil {
		return Judgement{}, err
	}
	o, release, err := get(at)
	defer release()
	if err != nil {
		return Judgement{}, err
	}
	if c.filter == nil {
		var j Judgement
		had, err := c.db.Matches(ctx, d.SHA256)
		if err == nil {
			j, err = c.save(ctx, withoutReading(d, at, o), places, nil, had, 0)
			j.Overruled = d.State == gleaner.DocumentRejected && j.Academic()
		}
		return j, err
	}
	text, j, err := c.readAndFilter(ctx, &d, at, o, func(t *document.Text) bool { return len(matches(index, titled(d, t), places)) > 0 })
	if err != nil {
		return Judgement{}, err
	}
	c.reached(read)
	switch {
	case text.Outcome == document.Stalled:
		return Judgement{}, fmt.Errorf("%w: %s", ErrStalled, text.Detail)
	case o.quick && text.Pictures() && c.reader.Recognises():
		return Judgement{}, cmp.Or(c.db.PutOff(ctx, d.SHA256, string(text.Outcome)), ErrUnrecognised)
	}
	d.Outcome, d.Detail, d.Reader, d.Pages, d.Words = outcome(text, j), clean(text.Detail), text.Reader, text.PageCount, text.Words()
	if !text.HasText() {
		d.State, d.Reasons, d.Class, d.Score, d.FirstPages = gleaner.DocumentRejected, []string{d.Outcome}, "", 0, ""
		return c.save(ctx, d, places, nil, nil, 0)
	}
	if text.Stopped && d.Detail == "" {
		d.Detail = partly
	}
	d.Class, d.Score, d.Reasons = string(j.Class), j.Score, cleanAll(j.Reasons)
	d = titled(d, text)
	d.Signs = signs(d, places)
	d.State = gleaner.DocumentRejected
	if j.Academic {
		d.State = gleaner.DocumentAccepted
	}
	had, err := c.db.Matches(ctx, d.SHA256)
	if err != nil {
		return Judgement{}, err
	}
	return c.save(ctx, d, places, text, withWord(matches(index, d, places), had), version)
}

// unwelcome reports whether the names of a document at all places, or its size, exclude a paper.
func unwelcome(d store.Document, places []store.Location) (reason string, is bool) {
	size := 0
	if d.Kind == string(document.PDF) {
		size = int(d.Bytes)
	}
	for _, l := range places {
		if reason, is = document.UnwelcomeName(cmp.Or(l.Member, l.URL), size); !is {
			return "", false
		}
	}
	return reason, is
}

// partly is the detail of a document judged by its first pages.
const partly = "judged by its first pages; not all others were read"

// titled sets the fields by which a document is matched.
func titled(d store.Document, t *document.Text) store.Document {
	d.FirstPages, d.MetaTitle = firstPages(t), clean(t.Title)
	return d
}

// withWord copies a person's verdicts from earlier matches.
func withWord(found, had []store.Found) []store.Found {
	for i := range found {
		for _, h := range had {
			if h.Paper == found[i].Paper {
				found[i].Settled = h.Settled
			}
		}
	}
	return found
}

// readAndFilter is the work of one processor core for one document. If the first pages suffice,
// it reads only the references beyond them, unless the document may be wanted.
func (c *Collection) readAndFilter(ctx context.Context, d *store.Document, at store.Location, o opened, wanted func(*document.Text) bool) (*document.Text, document.Judgement, error) {
	release, err := c.takeCore(ctx)
	if err != nil {
		return nil, document.Judgement{}, err
	}
	defer release()
	hints := document.Hints{Name: fileName(at), Anchor: at.Anchor}
	text, kind, err := c.read(ctx, o, func(t *document.Text) document.More {
		if c.whole || wanted(t) {
			return document.ReadAll
		}
		return c.filter.Enough(t, hints)
	})
	if err != nil {
		return nil, document.Judgement{}, err
	}
	d.Kind = string(kind)
	if !text.HasText() {
		return text, document.Judgement{}, nil
	}
	j := c.filtered(text, hints)
	d.References, d.ReferenceList = j.References, cleanAll(j.ReferenceList)
	return text, j, nil
}

// save stores a judgement: first the sidecars, which a repeated attempt replaces, then the
// sketch, then the row with its matches, which completes it.
func (c *Collection) save(ctx context.Context, d store.Document, places []store.Location, text *document.Text, found []store.Found, wanted int64) (Judgement, error) {
	out := Judgement{State: d.State, Outcome: d.Outcome, Class: d.Class, Matched: found}
	// A wanted paper is accepted whatever the filter's result.
	if out.Found() {
		out.State, d.State = gleaner.DocumentAccepted, gleaner.DocumentAccepted
		if text != nil {
			out.Outcome, d.Outcome = string(text.Outcome), string(text.Outcome)
		}
	}
	if err := c.writeSidecars(ctx, d, places, text, found); err != nil {
		return out, err
	}
	c.reached(written)
	kin, err := c.sketch(ctx, d.SHA256, text)
	if err != nil {
		return out, err
	}
	c.reached(sketched)
	if err := c.db.SaveJudgement(ctx, d, found, kin, wanted); err != nil {
		return out, err
	}
	c.reached(judged)
	return out, nil
}

// sketch stores the text's sketch and returns the key for finding copies.
func (c *Collection) sketch(ctx context.Context, sha string, text *document.Text) (store.Kin, error) {
	if text == nil {
		return store.Kin{}, nil
	}
	sketch := document.NewSketch(text)
	if sketch == nil {
		return store.Kin{}, nil
	}
	packed, bands := Packed(sketch)
	same := func(other []byte) bool { return sketch.Similarity(unpackSketch(other)) >= document.SameText }
	return store.Kin{Bands: bands, Same: same}, c.db.SaveSketch(ctx, sha, packed, bands)
}

// Packed returns a sketch and its bands in the form of the record.
func Packed(s document.Sketch) (packed []byte, bands []int64) {
	packed = make([]byte, 0, 4*len(s))
	for _, v := range s {
		packed = binary.LittleEndian.AppendUint32(packed, v)
	}
	for _, b := range s.Bands() {
		bands = append(bands, int64(b))
	}
	return packed, bands
}

func unpackSketch(b []byte) document.Sketch {
	s := make(document.Sketch, len(b)/4)
	for i := range s {
		s[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return s
}

// pageBreak separates the stored first pages.
const pageBreak = "\f"

func firstPages(t *document.Text) string {
	return text.Head(clean(strings.Join(t.Pages[:min(len(t.Pages), 2)], pageBreak)), firstPagesLimit)
}

func cleanAll(all []string) []string {
	return each.Of(all, clean)
}
