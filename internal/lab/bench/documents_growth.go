package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/document"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
)

// DocumentsAmong takes files in at each size of the record: it is filled with the
// rows of so many examined documents (text, sketch and place of each, not its
// file), the files are taken in among them, and forgotten again.
func DocumentsAmong(ctx context.Context, o DocumentsOptions, sizes []int) ([]DocumentsRun, error) {
	var all []DocumentsRun
	err := withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		return o.withRecord(ctx, dsn, func(db *store.DB) error {
			pile, rows := newRowPile(), 0
			report := o.Report
			for _, size := range sizes {
				if err := pile.fill(ctx, db, rows, size); err != nil {
					return err
				}
				rows = max(rows, size)
				o.Report = nil
				r, err := o.run(ctx, o.Workers[len(o.Workers)-1], dsn, db)
				if err != nil {
					return err
				}
				r.Rows = rows
				all = append(all, r)
				if report != nil {
					report(r)
				}
				if _, err := db.Pool.Exec(ctx, `DELETE FROM documents WHERE `+takenInSQL); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return all, err
}

// takenInSQL is true of the documents that were taken in, and not of the rows
// with which the record was filled.
const takenInSQL = `reader <> 'fill'`

// fillBatch is how many rows are copied at a time.
const fillBatch = 5000

// rowPile makes the rows of examined documents, each time the same.
type rowPile struct {
	rand   *rand.Rand
	words  []string
	papers *sampleweb.Pile
}

func newRowPile() *rowPile {
	p := &rowPile{rand: rand.New(rand.NewPCG(pileSeed, 1)), papers: sampleweb.NewPile(pileSeed + 1)}
	for range 5000 {
		var b strings.Builder
		for range 3 + p.rand.IntN(8) {
			b.WriteByte(byte('a' + p.rand.IntN(26)))
		}
		p.words = append(p.words, b.String())
	}
	return p
}

// text is some 4,000 bytes, about what the first two pages of a paper hold of it
// once they are compressed.
func (p *rowPile) text(title string) string {
	var b strings.Builder
	b.WriteString(title)
	for range 500 {
		b.WriteByte(' ')
		b.WriteString(p.words[p.rand.IntN(len(p.words))])
	}
	return b.String()
}

// fill adds rows until there are so many, and lets the planner know.
func (p *rowPile) fill(ctx context.Context, db *store.DB, have, want int) error {
	for from := have; from < want; from += fillBatch {
		if err := p.copyRows(ctx, db, from, min(want, from+fillBatch)); err != nil {
			return err
		}
	}
	_, err := db.Pool.Exec(ctx, `VACUUM ANALYZE documents, locations, sketches`)
	return err
}

func (p *rowPile) copyRows(ctx context.Context, db *store.DB, from, to int) error {
	var documents, locations, sketches [][]any
	for i := from; i < to; i++ {
		sha, title := p.digest(32), p.papers.Paper(i).Title
		sketch := make(document.Sketch, document.SketchSize)
		for j := range sketch {
			sketch[j] = p.rand.Uint32()
		}
		packed, bands := collection.Packed(sketch)
		documents = append(documents, []any{sha, p.digest(20), p.digest(16), int64(200_000), "pdf", "accepted", "ok", "fill", "paper", float32(0.97), 12, 6000, title, p.text(title), int64(p.rand.Uint64())})
		locations = append(locations, []any{binary.BigEndian.AppendUint64(nil, uint64(i)), sha, 0, fmt.Sprintf("http://fill.example/%d/%d.pdf", i/100, i), fmt.Sprintf("http://fill.example/%d/", i/100), title})
		sketches = append(sketches, []any{sha, packed, bands})
	}
	for _, t := range []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"documents", []string{"sha256", "sha1", "md5", "bytes", "kind", "state", "outcome", "reader", "class", "score", "pages", "words", "meta_title", "first_pages", "fingerprint"}, documents},
		{"locations", []string{"hash", "sha256", "site_id", "url", "parent", "anchor"}, locations},
		{"sketches", []string{"sha256", "sketch", "bands"}, sketches},
	} {
		if _, err := db.Pool.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromRows(t.rows)); err != nil {
			return fmt.Errorf("bench: fill %s: %w", t.table, err)
		}
	}
	return nil
}

// digest is a hexadecimal sum of so many bytes, spread as real ones are.
func (p *rowPile) digest(bytes int) string {
	b := make([]byte, 0, bytes)
	for len(b) < bytes {
		b = binary.BigEndian.AppendUint64(b, p.rand.Uint64())
	}
	return fmt.Sprintf("%x", b[:bytes])
}
