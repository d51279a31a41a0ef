package document

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gleaner/internal/lab/realdata"
)

// farmParts loads every n-th labelled document of the measuring data.
func farmParts(b *testing.B, n int) []Part {
	b.Helper()
	farm := realdata.Path(b, "farm")
	var parts []Part
	for i, row := range realdata.Table(b, "truth", "labels.tsv") {
		if i%n != 0 {
			continue
		}
		f, err := localFile(farm, row["url"])
		if err != nil {
			b.Fatal(err)
		}
		body, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, Part{Name: row["url"], Kind: Sniff(row["url"], "", body), Body: body})
	}
	return parts
}

// benchmarkDocuments reads and judges documents on as many workers as there are
// processors (-cpu), and reports documents a second.
func benchmarkDocuments(b *testing.B, opt Options, judge bool) {
	parts := farmParts(b, 7)
	r, f := NewReader(opt), NewFilter(Balanced)
	var next atomic.Int64
	b.ResetTimer()
	before := processorTime()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p := parts[int(next.Add(1))%len(parts)]
			t, err := r.Read(context.Background(), p)
			if err != nil {
				b.Error(err)
				return
			}
			if judge {
				f.Judge(t, Hints{Name: p.Name})
				NewSketch(t)
				Fingerprint(t)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
	// On a machine with other work the clock says little; the processor time of
	// this process and its children says what one core could do.
	if used := processorTime() - before; used > 0 {
		b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/doc")
		b.ReportMetric(float64(b.N)/used.Seconds(), "docs/core-s")
	}
}

// BenchmarkPoppler is text, filter and fingerprints, poppler reading.
func BenchmarkPoppler(b *testing.B) { benchmarkDocuments(b, withPoppler(b), true) }

// BenchmarkPopplerTextOnly leaves the filter out.
func BenchmarkPopplerTextOnly(b *testing.B) { benchmarkDocuments(b, withPoppler(b), false) }

// BenchmarkFilterAlone judges documents that have been read.
func BenchmarkFilterAlone(b *testing.B) {
	r, f := NewReader(withPoppler(b)), NewFilter(Balanced)
	var texts []*Text
	for _, p := range farmParts(b, 20) {
		t, err := r.Read(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, t)
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		f.Judge(texts[i%len(texts)], Hints{})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

// processorTime is what this process and its ended children have used.
func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
