package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "",
		"Erd&#337;s–R&eacute;nyi $\\lambda$-graphs": "erdosrenyilambdagraphs",
		"Erdős-Rényi λ‐Graphs":                      "erdosrenyilambdagraphs",
		"When a<b and c>d":                          "whenabandcd",
		"<i>In situ</i> H<sub>2</sub>O":             "insituh2o",
		"A &amp; B, C &amp;amp; D":                  "aandbcandd",
		"Δελτα":                                     "deltaepsilonlambdataualpha",
		"Обучение":                                  "обучение",
	} {
		assert.Equal(t, want, Normalise(s), s)
	}
	assert.Equal(t, []string{"erdosrenyi", "graphs", "again"}, TitleWords("Erdős-Rényi graphs, again"))
}

func TestWithoutTags(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "When a<b and c>d", WithoutTags("<i>When</i> a<b and c>d"))
	assert.Equal(t, "WebExa", WithoutTags("<fixed-case>W</fixed-case>eb<mml:mi mathvariant=\"bold\">E</mml:mi>xa"))
}

func TestFold(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "aoussaai", Fold("ÄØUßÅaï"))
	assert.Equal(t, []string{"obrien", "doe", "jean", "luc", "yurii"}, Words("O’Brien Doe's Jean-Luc Юрий"))
	assert.Equal(t, []string{"wil", "aalst", "eth", "数学", "jeanluc"}, append(Names("Wil van der Aalst (ETH), 数学"), Letters("Jean-Luc")))
}
