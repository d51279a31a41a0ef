// Package documenttest gives tests a reader that reads each file once.
//
// Reading a PDF takes several processes. Tests that prove something else harvest the
// same generated papers again and again: for them a test binary remembers what the
// real reader returned.
package documenttest

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"gleaner/internal/document"
)

// Memo reads as its Reader does, and remembers the texts of PDF and PostScript files.
type Memo struct {
	*document.Reader

	mu   sync.Mutex
	read map[key]entry
}

// key has all of a file that a reader of PDF or PostScript looks at.
type key struct {
	digest [sha256.Size]byte
	kind   document.Kind
}

// entry is what is known of a file.
type entry struct {
	asked []*document.Text // of which ReadUntil asks how much more to read
	texts map[document.More]*document.Text
}

// Shared returns the Memo of this test binary.
var Shared = sync.OnceValue(func() *Memo {
	return &Memo{Reader: document.NewReader(document.Options{}), read: map[key]entry{}}
})

// Read is Reader.Read.
func (m *Memo) Read(ctx context.Context, p document.Part) (*document.Text, error) {
	return m.ReadUntil(ctx, p, nil)
}

// ReadUntil is Reader.ReadUntil. Of a file that it knows it may call next more often.
func (m *Memo) ReadUntil(ctx context.Context, p document.Part, next func(*document.Text) document.More) (*document.Text, error) {
	kind := p.Kind
	if kind == "" {
		kind = document.Sniff(p.Name, p.MediaType, p.Body)
	}
	if kind != document.PDF && kind != document.PostScript {
		return m.Reader.ReadUntil(ctx, p, next)
	}
	k := key{sha256.Sum256(p.Body), kind}
	m.mu.Lock()
	e := m.read[k]
	m.mu.Unlock()
	more := document.ReadAll
	for i, t := range e.asked {
		if next != nil && (i == 0 || more == document.ReadOn) {
			more = next(named(t, p.Name))
		}
	}
	if t := e.texts[more]; t != nil {
		return named(t, p.Name), ctx.Err()
	}
	more = document.ReadAll
	var asked []*document.Text
	t, err := m.Reader.ReadUntil(ctx, p, func(t *document.Text) document.More {
		asked = append(asked, named(t, ""))
		if next != nil {
			more = next(t)
		}
		return more
	})
	if err != nil || t.Outcome == document.Stalled || t.Outcome == document.Timeout {
		return t, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e = m.read[k]
	if e.texts = maps.Clone(e.texts); e.texts == nil {
		e.texts = map[document.More]*document.Text{}
	}
	if len(asked) >= len(e.asked) {
		e.asked = asked
	}
	e.texts[more] = named(t, "")
	m.read[k] = e
	return t, nil
}

// named copies a text, which the caller may change, for a file of another name.
func named(t *document.Text, name string) *document.Text {
	c := *t
	c.Name, c.Pages, c.First.Lines = name, slices.Clone(t.Pages), slices.Clone(t.First.Lines)
	return &c
}
