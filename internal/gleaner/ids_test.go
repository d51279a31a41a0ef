package gleaner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseDOI(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"10.1145/872757.872773":                 "10.1145/872757.872773",
		" doi:10.1145/ABC.1 ":                   "10.1145/abc.1",
		"DOI: 10.1145/ABC.1":                    "10.1145/abc.1",
		"info:doi/10.1145/ABC.1":                "10.1145/abc.1",
		"https://doi.org/10.1145/ABC.1":         "10.1145/abc.1",
		"http://dx.doi.org/10.1007/X":           "10.1007/x",
		"//doi.acm.org/10.1145/1.2":             "10.1145/1.2",
		"doi.org/10.1145/1.2?nosfx=y#top":       "10.1145/1.2",
		"doi:https://doi.org/10.1145/1.2":       "10.1145/1.2",
		"https://doi.org/doi:10.1145/1.2":       "10.1145/1.2",
		"https://doi.org/10.1002%2F(SICI)1":     "10.1002/(sici)1",
		"10.1145%2F872757.872773":               "10.1145/872757.872773",
		"doi:10.1007/978-3-540-1_3.":            "10.1007/978-3-540-1_3",
		"10.1016/S0304-3975(97)00115-1":         "10.1016/s0304-3975(97)00115-1",
		"10.1000.10/123":                        "10.1000.10/123",
		"10.1000/É":                             "10.1000/É", // case means nothing in ASCII alone
		"10.1145/1.2 (accessed 2003)":           "10.1145/1.2",
		"10.1145/a\xff":                         "10.1145/a",
		"https://link.springer.com/10.1007/x":   "", // a publisher's page
		"http://doi.org.evil.example/10.1007/x": "",
		"":                                      "",
		"nothing":                               "",
		"10.1/x":                                "", // no registrant's code
		"10.1234567890/x":                       "",
		"10.1145":                               "",
		"10.1145/":                              "",
		"10.1145/...":                           "",
		"11.1145/x":                             "",
		"10.1145./x":                            "",
		"10.11a5/x":                             "",
		"10.1145 /x":                            "",
		"https://doi.org/":                      "",
		"https://doi.org/10.1000/a%20b%zz":      "10.1000/a%20b%zz", // not percent-encoded
		"https://doi.org/10.1002/(SICI)1097-0118(199601)21:1%3C1::AID-JGT1%3E3.0.CO;2-M": "10.1002/(sici)1097-0118(199601)21:1<1::aid-jgt1>3.0.co;2-m",
	} {
		require.Equal(t, want, ParseDOI(s), s)
	}
}

func TestDOIInURL(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"https://dl.example.org/doi/pdf/10.1145/872757.872773":                    "10.1145/872757.872773",
		"https://dl.example.org/10.1145%2F872757.872773.pdf?download=1":           "10.1145/872757.872773",
		"https://journals.example.org/article/file?id=10.1371/journal.pone.1&a=1": "10.1371/journal.pone.1",
		"https://journals.example.org/article/file?id=doi:10.1371/journal.pone.1": "10.1371/journal.pone.1",
		"https://example.org/doi/full/10.1145/1.2/full/":                          "10.1145/1.2",
		"https://example.org/10.1145/full":                                        "10.1145/full", // nothing would be left
		"https://doi.org/10.1145/1.2":                                             "10.1145/1.2",
		"http://www.example.org/~ada/10.1/paper.pdf":                              "",
		"http://www.example.org/v10.1145/paper.pdf":                               "",
		"https://example.org/%zz/10.1145/1.2":                                     "",
		"":                                                                        "",
	} {
		require.Equal(t, want, DOIInURL(s), s)
	}
}

func TestDOIsInText(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"as said (see 10.1016/S0304-3975(97)00115-1), and": {"10.1016/s0304-3975(97)00115-1"},
		"DOI10.1145/1.2.\nhttps://doi.org/10.1145/3.4; x":  {"10.1145/1.2", "10.1145/3.4"},
		"<https://doi.org/10.1145/1.2>, “10.1145/3.4”":     {"10.1145/1.2", "10.1145/3.4"},
		"[10.1145/1.2]":                           {"10.1145/1.2"},
		"110.1145/1.2 and 10.1145 /x and 10.5":    nil,
		"10.1000/1 10.1000/2 10.1000/3 10.1000/4": {"10.1000/1", "10.1000/2", "10.1000/3"},
	} {
		require.Equal(t, want, DOIsInText(s, 3), s)
	}
}

func TestParseArXiv(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"1609.01872":                   "1609.01872",
		"0704.0001":                    "0704.0001",
		"1609.01872v12":                "1609.01872",
		"hep-th/9901001":               "hep-th/9901001",
		"math.GT/0309136v1":            "math/0309136",
		"solv-int/9901001v2":           "solv-int/9901001",
		"1609.0187":                    "1609.0187",
		"1613.01872":                   "", // no such month
		"1600.01872":                   "",
		"1609.018722":                  "",
		"1609.01872v":                  "",
		"cs/0313001":                   "",
		"thesis/0301001":               "", // no such archive
		"report/9901001":               "",
		"":                             "",
		"v1":                           "",
		"10.1145/1.2":                  "",
		"https://x.example/1609.01872": "",
	} {
		require.Equal(t, want, ParseArXiv(s), s)
		if want == "" || strings.Contains(s, ":") {
			continue
		}
		require.Empty(t, LabelledArXiv(s), s)
		for _, labelled := range []string{"arXiv:" + s, "https://arxiv.org/abs/" + s, "http://export.arxiv.org/pdf/" + s + ".pdf", "https://doi.org/10.48550/arXiv." + s} {
			require.Equal(t, want, LabelledArXiv(labelled), labelled)
			require.Equal(t, want, ParseArXiv(labelled), labelled)
		}
	}
	for s, want := range map[string]string{
		" arxiv:1609.01872 [cs.LG] 6 Sep 2016":          "1609.01872",
		"arXiv: 1609.01872":                             "1609.01872",
		"http://arxiv.org/ps/cs/0305044.ps.gz":          "cs/0305044",
		"arxiv.org/html/1609.01872v1/":                  "1609.01872",
		"https://arxiv.org/abs/1609.01872?context=cs":   "1609.01872",
		"https://arxiv.org/list/cs.DL/new":              "",
		"https://notarxiv.org/pdf/1609.01872":           "",
		"https://arxiv.org.evil.example/abs/1609.01872": "",
		"10.48550/arxiv.nothing":                        "",
	} {
		require.Equal(t, want, LabelledArXiv(s), s)
	}
}

// FuzzIDs: a normal form is its own normal form, whatever it was read from, and
// can stand in a database and in an address.
func FuzzIDs(f *testing.F) {
	for _, s := range []string{"doi:10.1145/ABC.1", "https://doi.org/10.1002%2F(SICI)1097-0118(1996)21:1%3C1::AID-JGT1%3E3.0.CO;2-M", "10.1000.10/É", "10.1145/a\xff",
		"https://dl.acm.org/doi/pdf/10.1145/1.2/full.pdf", "(10.1016/S0304-3975(97)00115-1)", "arXiv:math.GT/0309136v1", "https://arxiv.org/pdf/1609.01872v2.pdf", "10.48550/arXiv.1609.01872"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, doi := range append(DOIsInText(s, 8), ParseDOI(s), DOIInURL(s)) {
			if doi == "" {
				continue
			}
			require.Equal(t, doi, ParseDOI(doi), "of %q", s)
			require.Equal(t, doi, ParseDOI(" DOI: "+doi+" "), "of %q", s)
			require.NotContains(t, doi, "\x00")
			require.Equal(t, doi, strings.ToValidUTF8(doi, ""), "of %q", s)
		}
		for _, id := range []string{ParseArXiv(s), LabelledArXiv(s)} {
			if id == "" {
				continue
			}
			require.Equal(t, id, ParseArXiv(id), "of %q", s)
			require.Equal(t, id, LabelledArXiv("https://arxiv.org/abs/"+id), "of %q", s)
			require.Equal(t, id, LabelledArXiv("10.48550/arXiv."+id), "of %q", s)
		}
	})
}
