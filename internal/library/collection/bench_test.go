package collection

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// BenchmarkCopiesAmong measures what it costs to record a judgement and to look
// for copies, as the record grows: it must hardly grow with it.
func BenchmarkCopiesAmong(b *testing.B) {
	for _, rows := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			s := newShop(b)
			fillSketches(b, s, rows)
			body := s.pile.File(1, sampleweb.AsPDF)
			shas, err := s.Add(b.Context(), fileAt("http://a.example/1.pdf", body))
			require.NoError(b, err)
			d := s.document(shas[0])
			d.State, d.Outcome = "accepted", "ok"
			r := rand.New(rand.NewPCG(1, 2))
			var sketches time.Duration
			for b.Loop() {
				sketch := randomSketch(r)
				packed, bands := Packed(sketch)
				began := time.Now()
				require.NoError(b, s.db.SaveSketch(b.Context(), d.SHA256, packed, bands))
				sketches += time.Since(began)
				require.NoError(b, s.db.SaveJudgement(b.Context(), d, nil, store.Kin{Bands: bands, Same: func([]byte) bool { return false }}, 0))
			}
			b.ReportMetric(float64(sketches.Microseconds())/1000/float64(b.N), "sketch-ms/op")
		})
	}
}

func randomSketch(r *rand.Rand) document.Sketch {
	sketch := make(document.Sketch, 128)
	for i := range sketch {
		sketch[i] = r.Uint32()
	}
	return sketch
}

func fillSketches(b *testing.B, s *shop, n int) {
	b.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var docs, sketches [][]any
	for i := range n {
		sum := make([]byte, 32)
		binary.BigEndian.PutUint64(sum, uint64(i)+1)
		sha := fmt.Sprintf("%x", sum)
		sketch := randomSketch(r)
		docs = append(docs, []any{sha, sha, sha, int64(1), "pdf", "accepted", "ok"})
		packed, bands := Packed(sketch)
		sketches = append(sketches, []any{sha, packed, bands})
	}
	_, err := s.db.Pool.CopyFrom(b.Context(), pgx.Identifier{"documents"}, []string{"sha256", "sha1", "md5", "bytes", "kind", "state", "outcome"}, pgx.CopyFromRows(docs))
	require.NoError(b, err)
	_, err = s.db.Pool.CopyFrom(b.Context(), pgx.Identifier{"sketches"}, []string{"sha256", "sketch", "bands"}, pgx.CopyFromRows(sketches))
	require.NoError(b, err)
	_, err = s.db.Pool.Exec(b.Context(), "ANALYZE")
	require.NoError(b, err)
}
