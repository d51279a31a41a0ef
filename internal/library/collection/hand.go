package collection

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/library/repository"
)

// opened is a file with what is in it.
type opened struct {
	name, media string
	body        []byte
	parts       []document.Part
	bad         *document.UnpackError // an archive that could not be unpacked, or not to its end
	quick       bool                  // pictures of pages are not recognised now
}

// open unpacks a file when there is memory for what may come of it. release says
// that the parts are no longer needed. The error is that of ctx. Memory is waited
// for before a processor is, everywhere: who holds the one may wait for the other.
func (c *Collection) open(ctx context.Context, name, media string, body []byte) (o opened, release func(), err error) {
	o, release = opened{name: name, media: media, body: body}, func() {}
	unpacked := document.Unpacked(name, media, body, document.Limits{})
	if unpacked > 0 {
		if release, err = c.memory.Hold(ctx, unpacked); err != nil {
			return o, func() {}, err
		}
	}
	o.parts, err = document.Unpack(name, media, body, document.Limits{})
	if errors.As(err, &o.bad) {
		err = nil // it is named when the file is judged
	} else if unpacked > 0 && !slices.ContainsFunc(o.parts, mayBePaper) {
		o.parts = nil
	}
	return o, release, err
}

// mayBePaper reports whether a file in a packed one may be a paper: it is of a kind in which
// papers are published, or it is all that was packed and no member of an archive.
func mayBePaper(p document.Part) bool { return p.Kind.IsPaper() || !strings.Contains(p.Name, "/") }

// read reads the document of a file, part by part, as next says.
func (c *Collection) read(ctx context.Context, o opened, next func(*document.Text) document.More) (*document.Text, document.Kind, error) {
	if len(o.parts) == 0 && o.bad != nil {
		return &document.Text{Outcome: o.bad.Outcome, Detail: o.bad.Error()}, document.Sniff(o.name, "", o.body), nil
	}
	for _, p := range o.parts {
		if p.Kind.IsDocument() {
			reader := c.reader
			if o.quick && reader.Recognises() {
				reader = reader.Quick()
			}
			t, err := reader.ReadUntil(ctx, p, next)
			return t, p.Kind, err
		}
	}
	kind := document.Sniff(o.name, o.media, o.body)
	t := &document.Text{Outcome: document.NotADocument, Detail: "a file of kind " + string(kind)}
	if kind == document.Empty {
		t.Outcome, t.Detail = document.EmptyFile, "no bytes, or only blanks"
	}
	return t, kind, nil
}

// Kept is a file that was stored, with the documents in it in hand: the file
// itself, or each member of an archive with several.
type Kept struct {
	Documents []InHand
	Bytes     int64  // of all different ones together
	Cut       string // what keeps the rest of an archive out; "" where there is none
	release   func()
}

// InHand is a document that was just stored: it can be judged without reading it
// back.
type InHand struct {
	SHA256 string
	opened opened
}

// Release says that the documents are no longer in hand. It may be called again,
// and on nil.
func (k *Kept) Release() {
	if k != nil && k.release != nil {
		k.release()
	}
}

// Keep stores a file. One with nothing in it that may be a paper is stored none
// the less, to be rejected by its kind.
func (c *Collection) Keep(ctx context.Context, f File) (_ *Kept, err error) {
	c.reached(fetched)
	o, release, err := c.open(ctx, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
	k := &Kept{release: release}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err != nil {
		return nil, err
	}
	if o.bad != nil {
		k.Cut = clean(o.bad.Error())
	}
	if len(o.parts) < 2 {
		kind := document.Sniff(o.name, o.media, o.body)
		if len(o.parts) == 1 {
			kind = o.parts[0].Kind
		}
		sha, err := c.add(ctx, f, "", kind, f.Body)
		k.Documents, k.Bytes = []InHand{{sha, o}}, int64(len(f.Body))
		return k, err
	}
	had := map[string]bool{}
	for _, p := range o.parts {
		sha, err := c.add(ctx, f, p.Name, p.Kind, p.Body)
		if err != nil {
			return nil, err
		}
		k.Documents = append(k.Documents, InHand{sha, opened{name: p.Name, body: p.Body, parts: []document.Part{p}}})
		if !had[sha] {
			had[sha] = true
			k.Bytes += int64(len(p.Body))
		}
	}
	return k, nil
}

// Mend stores a document in hand anew where its file was changed since it was stored.
func (h InHand) Mend(ctx context.Context, in *repository.Repository) error {
	return in.Mend(ctx, h.SHA256, h.opened.body)
}
