package document

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A document that its first pages settle is read no further than it takes.
func TestReadUntil(t *testing.T) {
	t.Parallel()
	r := NewReader(withPoppler(t))
	body := paperPDF(t, 12)
	read := func(next func(*Text) More) *Text {
		got, err := r.ReadUntil(t.Context(), Part{Name: "x.pdf", Body: body}, next)
		require.NoError(t, err)
		require.Equal(t, OK, got.Outcome)
		require.Equal(t, 12, got.PageCount)
		return got
	}
	all := read(nil)
	assert.Len(t, all.Pages, 12)
	assert.False(t, all.Stopped)

	for _, tc := range []struct {
		say       []More
		end, more int // last pages, and pages between, that are read
	}{{[]More{ReadEnd}, endPages, 0}, {[]More{ReadOn, ReadEnd}, lastPages, 0}, {[]More{ReadOn, ReadAll}, lastPages, 12 - VerdictPages - lastPages}} {
		asked := 0
		end := read(func(seen *Text) More {
			assert.Equal(t, all.Pages[:VerdictPages], seen.Pages[:VerdictPages])
			assert.Len(t, seen.Pages, VerdictPages+asked*lastPages)
			asked++
			return tc.say[asked-1]
		})
		assert.Len(t, tc.say, asked)
		assert.Equal(t, slices.Concat(all.Pages[:VerdictPages+tc.more], all.Pages[12-tc.end:]), end.Pages)
		assert.Equal(t, 12-len(end.Pages), end.Skipped)
		assert.Equal(t, end.Skipped > 0, end.Stopped)
		whole, partly := NewFilter(Balanced).Judge(all, Hints{}), NewFilter(Balanced).Judge(end, Hints{})
		assert.Equal(t, whole.Class, partly.Class)
		assert.Equal(t, whole.Academic, partly.Academic)
		if !end.Stopped {
			assert.Equal(t, all.Front, end.Front)
		}
	}

	none := read(func(*Text) More { return ReadNoMore })
	assert.True(t, none.Stopped)
	assert.Equal(t, 12-VerdictPages, none.Skipped)
	assert.Equal(t, NewSketch(all), NewSketch(none), "its copies are found by the pages that are read of all")

	few := read(func(*Text) More { return ReadAll })
	few.Pages, few.Front, few.Skipped, few.Stopped = few.Pages[:2], 2, 10, true // its processor time ended
	assert.True(t, NewFilter(Balanced).Judge(few, Hints{}).Judged)
}

func TestEnough(t *testing.T) {
	t.Parallel()
	f := NewFilter(Balanced)
	first := func(body []byte) *Text {
		var seen *Text
		_, err := NewReader(withPoppler(t)).ReadUntil(t.Context(), Part{Name: "x.pdf", Body: body}, func(t *Text) More { seen = t; return ReadNoMore })
		require.NoError(t, err)
		require.NotNil(t, seen)
		return seen
	}
	paper := first(paperPDF(t, 12))
	assert.Equal(t, ReadEnd, f.Enough(paper, Hints{}), "a paper, and its references count")

	thesis := *paper
	thesis.Pages = append([]string{"On Patience\n\nA dissertation submitted in partial fulfilment\nof the requirements for the degree of Doctor"}, paper.Pages[1:]...)
	assert.Equal(t, ReadAll, f.Enough(&thesis, Hints{}), "a thesis comes to its matter late")
	learning := *paper
	learning.Pages = append([]string{paper.Pages[0] + "\nWe compare supervised learning by the degree of a polynomial."}, paper.Pages[1:]...)
	assert.Equal(t, ReadEnd, f.Enough(&learning, Hints{}), "a paper that speaks as theses do")
	open := *paper
	open.Pages = []string{"On Patience\nAda Example\n" + paragraph(1, 20), paragraph(2, 40), paragraph(3, 40)}
	assert.Equal(t, ReadOn, f.Enough(&open, Hints{}), "its end may say what it is")
	open.Pages, open.Front, open.PageCount, open.Skipped = append(open.Pages, "More\n", "[5] M"), VerdictPages, 12, 7
	assert.Equal(t, ReadAll, f.Enough(&open, Hints{}))
	open.Pages[4] = "References\n[1] A. Writer. One. 2001.\n[2] A. Writer. Two. 2002.\n[3] A. Writer. Three. 2003.\n"
	assert.Equal(t, ReadEnd, f.Enough(&open, Hints{}), "and did")
	assert.True(t, f.Judge(&open, Hints{}).Academic)
	blank := *paper
	blank.Pages = []string{"Report No. 7", "", "On Patience"}
	assert.Equal(t, ReadAll, f.Enough(&blank, Hints{}))
	blank.Width, blank.Height = 842, 595
	assert.Equal(t, ReadNoMore, f.Enough(&blank, Hints{}), "slides say little")

	m := *f.model
	m.Front = nil
	assert.Equal(t, ReadAll, (&Filter{model: &m}).Enough(paper, Hints{}), "weights of before know nothing of first pages")
}
