//go:build unix

package match_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
)

// vocabulary is a thousand words made of syllables: common grams occur in many
// titles, as in real ones.
func vocabulary(r *rand.Rand) []string {
	syl := []string{"al", "go", "rith", "mic", "net", "work", "da", "ta", "ba", "se", "learn", "ing", "op", "ti", "mal", "para", "lel", "com", "pu", "ta", "tion", "sys", "tem", "ana", "ly", "sis", "graph", "mod", "el", "stoch", "as", "tic"}
	out := make([]string, 3000)
	for i := range out {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(syl[r.IntN(len(syl))])
		}
		out[i] = b.String()
	}
	return out
}

func synthetic(n int) []gleaner.Paper {
	r := rand.New(rand.NewPCG(7, 7))
	words := vocabulary(r)
	pick := func() string { // Zipf-like
		x := r.Float64()
		return words[int(x*x*float64(len(words)))]
	}
	out := make([]gleaner.Paper, n)
	for i := range out {
		title := make([]string, 4+r.IntN(9))
		for k := range title {
			title[k] = pick()
		}
		out[i] = gleaner.Paper{
			Key: fmt.Sprintf("conf/x/p%d", i), Title: strings.Join(title, " "), Year: 1990 + r.IntN(35),
			Authors: []gleaner.Author{{Name: "Ada " + pick()}, {Name: "Bob " + pick()}},
		}
	}
	return out
}

// pageOf is the first page of a paper, with prose behind the title.
func pageOf(p gleaner.Paper, r *rand.Rand, words []string) string {
	var b strings.Builder
	b.WriteString("Proceedings of the Conference, 2003\n\n" + p.Title + "\n")
	for _, a := range p.Authors {
		b.WriteString(a.Name + "\n")
	}
	b.WriteString("\nAbstract\n")
	for i := range 700 {
		b.WriteString(words[r.IntN(len(words))])
		if i%12 == 11 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestMillionTitles prints what an index of a million titles costs, with -short of ten
// thousand, and finds a thousand documents in it.
func TestMillionTitles(t *testing.T) {
	n, asked := 1_000_000, 300_000
	if testing.Short() {
		n, asked = 10_000, 1_000
	}
	papers := synthetic(n)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime(t)
	ix := match.NewIndex(papers)
	build := cpuTime(t) - start
	runtime.GC()
	runtime.ReadMemStats(&after)

	r := rand.New(rand.NewPCG(1, 1))
	words := vocabulary(rand.New(rand.NewPCG(7, 7)))
	const m = 1000
	pages := make([]string, m)
	which := make([]int, m)
	for i := range pages {
		which[i] = r.IntN(n)
		pages[i] = pageOf(papers[which[i]], r, words)
	}
	right, wrong := 0, 0
	start = cpuTime(t)
	for i, page := range pages {
		for _, got := range ix.Document(match.Evidence{FirstPages: page}) {
			switch {
			case got.Paper.Key == papers[which[i]].Key && got.Taken():
				right++
			case got.Taken() && got.Paper.Title != papers[which[i]].Title:
				wrong++
			}
		}
	}
	perDoc := (cpuTime(t) - start) / m
	t.Logf("%d titles: built in %v of processor time, %d MB beside the papers; %v a document (%.0f a second and core); %d of %d right, %d wrong",
		n, build.Round(time.Millisecond), (after.HeapAlloc-before.HeapAlloc)>>20, perDoc, float64(time.Second)/float64(perDoc), right, m, wrong)
	require.GreaterOrEqual(t, right, m*99/100)
	assert.LessOrEqual(t, wrong, m/100)
	no := "Department of Computer Science: teaching, office hours and directions to the building. "
	for _, text := range []string{no, strings.Repeat(no, 6)[:500]} {
		start = cpuTime(t)
		for range asked {
			ix.Likeness(text)
		}
		t.Logf("Likeness, a no of %d bytes against %d titles: %v of processor time", len(text), n, (cpuTime(t)-start)/time.Duration(asked))
	}
	runtime.KeepAlive(papers)
}

// cpuTime is the processor time of this process: on a shared machine the wall
// clock measures the neighbours.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
