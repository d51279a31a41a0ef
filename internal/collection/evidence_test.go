package collection

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentifiersInURLs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, arxiv, doi string }{
		{"https://arxiv.org/pdf/1609.01872v2", "1609.01872v2", ""},
		{"http://export.arxiv.org/pdf/cs/0305044", "cs/0305044", ""},
		{"https://arxiv.org/abs/math.CO/0309136", "math.CO/0309136", ""},
		{"https://arxiv.org/list/cs.DL/new", "", ""},
		{"https://notarxiv.org/pdf/1609.01872", "", ""},
		{"https://dl.example.org/doi/pdf/10.1145/872757.872773", "", "10.1145/872757.872773"},
		{"https://dl.example.org/10.1145%2F872757.872773.pdf?download=1", "", "10.1145/872757.872773"},
		{"http://www.example.org/~ada/10.1/paper.pdf", "", ""},
	} {
		require.Equal(t, c.arxiv, arxivOf(c.url), c.url)
		require.Equal(t, c.doi, doiOf(c.url), c.url)
	}
}
