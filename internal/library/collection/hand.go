package collection

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"gleaner/internal/document"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// opened is a file with its parts.
type opened struct {
	name, media string
	body        []byte
	parts       []document.Part
	bad         *document.UnpackError // an archive that was not unpacked completely
	quick       bool                  // without character recognition
}

// open unpacks a file. It waits for memory for the parts, which release frees; the error is that
// of ctx. All callers take memory before a processor, which prevents deadlock.
func (c *Collection) open(ctx context.Context, url, name, media string, body []byte) (o opened, release func(), err error) {
	o, release = opened{name: name, media: media, body: body}, func() {}
	unpacked := document.Unpacked(name, media, body, document.Limits{})
	if unpacked > 0 {
		if release, err = c.memory.Hold(ctx, weburl.Owner(weburl.Host(url)), unpacked); err != nil {
			return o, func() {}, err
		}
	}
	held, well := release, false
	defer func() { // also where it panics
		if !well {
			held()
		}
	}()
	o.parts, err = document.Unpack(ctx, name, media, body, document.Limits{})
	if errors.As(err, &o.bad) {
		err = nil // it is named when the file is judged
	} else if err != nil {
		return o, func() {}, err
	} else if unpacked > 0 && !slices.ContainsFunc(o.parts, mayBePaper) {
		o.parts = nil
	}
	well = true
	return o, release, nil
}

// mayBePaper reports whether a part may be a paper: its kind is one of papers, or it is the only
// packed file and not a member of an archive.
func mayBePaper(p document.Part) bool { return p.Kind.IsPaper() || !strings.Contains(p.Name, "/") }

// read reads the document of a file part by part, as decided by next.
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

// Kept is a stored file with the content of its documents: the file itself, or each member of an
// archive.
type Kept struct {
	Documents []Document
	Bytes     int64  // of all distinct documents
	Cut       string // why an archive was cut, or ""
	release   func()
}

// Document is a stored document. Keep returns it with its content, so that it can be judged
// without reading it back from the repository.
type Document struct {
	SHA256  string
	content *opened // nil if it has to be read
}

// Stored returns a stored document, whose content is in the repository only.
func Stored(sha256 string) Document { return Document{SHA256: sha256} }

// Release frees the memory of the documents. It may be called again, and on nil.
func (k *Kept) Release() {
	if k != nil && k.release != nil {
		k.release()
	}
}

// Keep stores a file. A file without anything that may be a paper is stored, too; Judge
// rejects it by its kind.
func (c *Collection) Keep(ctx context.Context, f File) (*Kept, error) {
	all, err := c.KeepAll(ctx, []File{f})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// KeepAgain records another place of a stored document.
func (c *Collection) KeepAgain(ctx context.Context, f File, sha256 string) (*Kept, error) {
	s := stock{file: f}
	err := c.db.SaveFetched(ctx, store.Document{SHA256: sha256}, s.location(), func() error { return repository.ErrNotFound })
	return &Kept{Documents: []Document{Stored(sha256)}}, err
}

// KeepAll is Keep for several files. All are in memory, unpacked, until the caller releases them.
// After the end of ctx it still stores files that are not packed, so that they are not fetched
// again.
func (c *Collection) KeepAll(ctx context.Context, files []File) (kept []*Kept, err error) {
	well := false
	defer func() { // also where it panics
		if !well {
			for _, k := range kept {
				k.Release()
			}
			kept = nil
		}
	}()
	var all []stock
	for _, f := range files {
		c.reached(fetched)
		o, release, err := c.open(ctx, f.URL, path.Base(f.URL), f.Header.Get("Content-Type"), f.Body)
		k := &Kept{release: release}
		kept = append(kept, k)
		if err != nil {
			return kept, err
		}
		if o.bad != nil {
			k.Cut = clean(o.bad.Error())
		}
		all = append(all, k.stock(f, o)...)
	}
	if err = c.add(context.WithoutCancel(ctx), all); err != nil {
		return kept, err
	}
	for _, s := range all {
		s.of.Documents = append(s.of.Documents, Document{s.sha256, s.content})
		if !slices.ContainsFunc(s.of.Documents[:len(s.of.Documents)-1], func(d Document) bool { return d.SHA256 == s.sha256 }) {
			s.of.Bytes += int64(len(s.content.body))
		}
	}
	well = true
	return kept, nil
}

// stock is a document of a file: itself, or a member.
type stock struct {
	of      *Kept
	file    File
	member  string
	kind    document.Kind
	content *opened
	sha256  string // after it is stored
}

// stock returns the documents of a file to store.
func (k *Kept) stock(f File, o opened) (all []stock) {
	if len(o.parts) < 2 {
		kind := document.Sniff(o.name, o.media, o.body)
		if len(o.parts) == 1 {
			kind = o.parts[0].Kind
		}
		return []stock{{of: k, file: f, kind: kind, content: &o}}
	}
	for _, p := range o.parts {
		all = append(all, stock{of: k, file: f, member: p.Name, kind: p.Kind, content: &opened{name: p.Name, body: p.Body, parts: []document.Part{p}}})
	}
	return all
}

// Mend stores the content of a document from Keep again if its file changed.
func (d Document) Mend(ctx context.Context, in *repository.Repository) error {
	return in.Mend(ctx, d.SHA256, d.content.body)
}
