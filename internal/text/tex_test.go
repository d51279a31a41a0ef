package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFromTeX(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                                      "",
		`{Erd\H{o}s}--{R}\'enyi`:                "Erdős–Rényi",
		`G{\"o}del, {\O}re \& Na\"{\i}ve`:       "Gödel, Øre & Naïve",
		`\emph{Fast} $\theta$-joins~in $\Xi$`:   "Fast θ-joins in Ξ",
		`\AA ngstr\"om and \o re, 50\% of a\_b`: "Ångström and øre, 50% of a_b",
		`trailing \`:                            "trailing",
	} {
		require.Equal(t, want, FromTeX(s), s)
	}
}
