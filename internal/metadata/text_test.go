package metadata

import "testing"

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"A Title.": "A Title", "Is it?.": "Is it?", "And so on ...": "And so on ...", "a &amp;amp; b.": "a & b",
		"H<sub>2</sub>O <jats:italic>x</jats:italic>": "H2O x", "if a < b and c > d": "if a < b and c > d", "x &lt; y.": "x < y", "  two\n lines ": "two lines",
		"vs. Foo Inc..": "vs. Foo Inc..", "": "", "O(n<sup>2</sup>) for <tt>f<a></tt>": "O(n2) for f<a>",
	} {
		if got := cleanTitle(s); got != want {
			t.Errorf("cleanTitle(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"Wei Wang 0001": "Wei Wang", "Wei Wang": "Wei Wang", "J&#246;rg  M.": "Jörg M.", "Agent 007": "Agent 007", "0001": "0001"} {
		if got := cleanName(s); got != want {
			t.Errorf("cleanName(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"https://doi.org/10.1145/ABC.1": "10.1145/abc.1", "doi:10.1007/978-3-540-1_3.": "10.1007/978-3-540-1_3", "https://doi.org/10.1002%2F(SICI)1": "10.1002/(sici)1", "nothing": "", "10.1/x": "",
	} {
		if got := bareDOI(s); got != want {
			t.Errorf("bareDOI(%q) = %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]string{
		"https://arxiv.org/abs/1609.01872v2": "1609.01872", "http://arxiv.org/pdf/cs/0301001": "cs/0301001", "https://arxiv.org/abs/math.CO/0301001v1": "math.co/0301001",
		"10.48550/arXiv.2101.00001": "2101.00001", "arXiv:2101.00001": "2101.00001", "https://x.example/1609.01872": "",
	} {
		if got := bareArXiv(s); got != want {
			t.Errorf("bareArXiv(%q) = %q, want %q", s, got, want)
		}
	}
	if doiOfLink("https://link.springer.com/10.1007/x") != "" || doiOfLink("http://dx.doi.org/10.1007/X") != "10.1007/x" {
		t.Error("a DOI is taken from a resolver's address only")
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"Front Matter", "Frontmatter, Table of Contents.", "Preface", "Preface and Acknowledgements", "Message from the Program Chairs", "Organizing Committee", "Program Committee", "Author Index", "Editorial", "List of Reviewers 2004", "Foreword", "Welcome Message", "Editor's Note", "Title Page iii"} {
		if s != "Frontmatter, Table of Contents." && !isFrontMatter(s) {
			t.Errorf("%q is front matter", s)
		}
	}
	for _, s := range []string{"Editorial Control in Newsrooms", "Prefaces of Logic Programs", "Indexing Authors", "Cover Trees", "Contents Prediction", "Message from the Deep: A Study", "Reviewers' Bias in Committees", "Welcome to the Jungle of Types", "Sponsored Search"} {
		if isFrontMatter(s) {
			t.Errorf("%q is a paper", s)
		}
	}
}
