package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"A Title.": "A Title", "Is it?.": "Is it?", "And so on ...": "And so on ...", "a &amp;amp; b.": "a & b",
		"H<sub>2</sub>O <jats:italic>x</jats:italic>": "H2O x", "if a < b and c > d": "if a < b and c > d", "x &lt; y.": "x < y", "  two\n lines ": "two lines",
		"vs. Foo Inc..": "vs. Foo Inc..", "": "", "O(n<sup>2</sup>) for <tt>f<a></tt>": "O(n2) for f<a>",
	} {
		assert.Equal(t, want, cleanTitle(s), "cleanTitle %v", s)
	}
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"Wei Wang 0001": "Wei Wang", "Wei Wang": "Wei Wang", "J&#246;rg  M.": "Jörg M.", "Agent 007": "Agent 007", "0001": "0001"} {
		assert.Equal(t, want, cleanName(s), "cleanName %v", s)
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"Front Matter", "Preface", "Preface and Acknowledgements", "Message from the Program Chairs", "Organizing Committee", "Program Committee", "Author Index", "Editorial", "List of Reviewers 2004", "Foreword", "Welcome Message", "Editor's Note", "Title Page iii"} {
		assert.True(t, isFrontMatter(s), s)
	}
	for _, s := range []string{"Editorial Control in Newsrooms", "Prefaces of Logic Programs", "Indexing Authors", "Cover Trees", "Contents Prediction", "Message from the Deep: A Study", "Reviewers' Bias in Committees", "Welcome to the Jungle of Types", "Sponsored Search"} {
		assert.False(t, isFrontMatter(s), s)
	}
}
