package document

import (
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

	asked := 0
	end := read(func(first *Text) More {
		asked++
		assert.Len(t, first.Pages, VerdictPages)
		assert.Equal(t, all.Pages[:VerdictPages], first.Pages)
		return ReadEnd
	})
	assert.Equal(t, 1, asked)
	assert.True(t, end.Stopped)
	assert.Len(t, end.Pages, VerdictPages+endPages)
	assert.Equal(t, VerdictPages, end.Front)
	assert.Equal(t, 12-len(end.Pages), end.Skipped)
	assert.Equal(t, all.Pages[11], end.Pages[len(end.Pages)-1], "its end is there")

	none := read(func(*Text) More { return ReadNoMore })
	assert.True(t, none.Stopped)
	assert.Equal(t, 12-VerdictPages, none.Skipped)
	assert.Equal(t, NewSketch(all), NewSketch(none), "its copies are found by the pages that are read of all")

	whole, partly := NewFilter(Balanced).Judge(all, Hints{}), NewFilter(Balanced).Judge(end, Hints{})
	assert.Equal(t, whole.Class, partly.Class)
	assert.Equal(t, whole.Academic, partly.Academic)
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
	blank := *paper
	blank.Pages = []string{"Report No. 7", "", "On Patience"}
	assert.Equal(t, ReadAll, f.Enough(&blank, Hints{}))

	m := *f.model
	m.Front = nil
	assert.Equal(t, ReadAll, (&Filter{model: &m}).Enough(paper, Hints{}), "weights of before know nothing of first pages")
}
