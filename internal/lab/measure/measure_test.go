package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/learn"
)

func TestFolds(t *testing.T) {
	t.Parallel()
	ex := make([]learn.Example, 30)
	for i := range ex {
		ex[i].Label = string(rune('a' + i%3))
	}
	seen := map[int]int{}
	for _, f := range KFolds(ex, 3) {
		assert.Len(t, ex, len(f.Train)+len(f.Test))
		for _, i := range f.Test {
			seen[i]++
		}
	}
	assert.Len(t, seen, len(ex))
}

func TestConfusion(t *testing.T) {
	t.Parallel()
	c := NewConfusion([]string{"no", "yes"})
	for range 8 {
		c.Add("yes", "yes")
	}
	c.Add("yes", "no")
	c.Add("no", "yes")
	c.Add("no", "yes")
	c.Add("no", "maybe")
	p, r, f := c.Scores("yes")
	assert.InDelta(t, 0.8, p, 1e-9)
	assert.InDelta(t, 8.0/9, r, 1e-9)
	assert.InDelta(t, 2*0.8*(8.0/9)/(0.8+8.0/9), f, 1e-9)
	assert.InDelta(t, 8.0/11, c.Accuracy(), 1e-9)
	assert.Equal(t, 11, c.total())
	assert.True(t, strings.Contains(c.String(), "0.800"))
}
