package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func TestPerson(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{"/pid/1/2.xml": one(`<?xml version="1.0"?>
<dblpperson name="J&#252;rgen K&#246;nig 0002" pid="1/2" n="3">
<person key="homepages/1/2" mdate="2024-01-01">
<author pid="1/2">J&#252;rgen K&#246;nig 0002</author>
<author pid="1/2">Juergen Koenig 0002</author>
<note type="affiliation">University of Examples, Paris</note>
<note label="former" type="affiliation">Old Place</note>
<note type="uname">x</note>
<url type="deprecated">http://old.example.edu/~jk/</url>
<url>https://orcid.org/0000-0002-1825-009x</url>
<url>https://scholar.google.de/citations?user=abc</url>
<url>https://www.wikidata.org/entity/Q1</url>
<url>https://dl.acm.org/profile/81</url>
<url>https://jk.github.io/</url>
<url>http://cs.example.edu/~jk/?a=1&amp;b=2</url>
</person>
<homonyms n="1"><h f="k"><person key="homepages/1/2-1"><author>J&#252;rgen K&#246;nig 0001</author><url>http://someone.else/</url></person></h></homonyms>
<r><article key="journals/jex/K03"><author pid="1/2">J&#252;rgen K&#246;nig 0002</author><title>A <i>New</i> Thing.</title><year>2003</year></article></r>
<r><proceedings key="conf/exa/2003"><editor pid="1/2">J&#252;rgen K&#246;nig 0002</editor><title>EXA.</title></proceedings></r>
<coauthors n="1"><co c="0"><na f="l/Lee:Ann" pid="5/6">Ann Lee</na></co></coauthors>
</dblpperson>`)})
	p, err := NewDBLP(cfg).Person(t.Context(), "1/2")
	want := gleaner.Person{
		Author: gleaner.Author{PID: "1/2", Name: "Jürgen König"},
		URLs:   []string{"https://jk.github.io/", "http://cs.example.edu/~jk/?a=1&b=2", "http://old.example.edu/~jk/"},
		Profiles: map[string]string{
			"orcid": "https://orcid.org/0000-0002-1825-009x", "scholar": "https://scholar.google.de/citations?user=abc",
			"wikidata": "https://www.wikidata.org/entity/Q1", "acm": "https://dl.acm.org/profile/81",
		},
		Aliases:      []string{"Juergen Koenig"},
		Affiliations: []string{"University of Examples, Paris", "Old Place"},
		Titles:       []string{"A New Thing"},
	}
	require.NoError(t, err)
	assert.Equal(t, want, p)
	require.Equal(t, "0000-0002-1825-009X", p.ORCID(), "ORCID")
	assert.Len(t, s.asked, 1, "ORCID")
	_, err = NewDBLP(cfg).Person(t.Context(), "9/9")
	as[ErrNotFound](t, err)
}

func TestDisambiguationPage(t *testing.T) {
	t.Parallel()
	p, err := parsePerson([]byte(`<dblpperson name="Wei Wang" pid="7/8"><person key="homepages/7/8" publtype="disambiguation"><author pid="7/8">Wei Wang</author></person></dblpperson>`), func(record) {})
	require.NoError(t, err)
	assert.True(t, p.Ambiguous)
	_, err = parsePerson([]byte(`<dblpperson name="Wei Wang" pid="7/8"><person key="h`), func(record) {})
	require.Error(t, err, "a page that breaks off is taken for whole")
}

func TestProfileKind(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"https://orcid.org/0000-0002-1825-0097": "orcid", "http://www.researchgate.net/profile/X": "researchgate", "https://scholar.google.co.uk/citations?user=x": "scholar",
		"https://de.wikipedia.org/wiki/X": "wikipedia", "https://x.com/ann": "twitter", "https://max.com/ann": "",
		"https://ann.github.io/": "", "https://github.com/ann": "github", "http://www.cs.example.edu/~ann": "", "https://sites.google.com/site/ann": "", "": "", "::": "",
	} {
		assert.Equal(t, want, profileKind(addr), "ProfileKind %v", addr)
	}
}

func TestPersonAdd(t *testing.T) {
	t.Parallel()
	p := gleaner.Person{Author: gleaner.Author{PID: "1/2", Name: "Ann Lee"}, URLs: []string{"http://a/"}}
	AddPerson(&p, gleaner.Person{Author: gleaner.Author{PID: "s2:1", Name: "A. Lee"}, URLs: []string{"http://b/", "http://a/"}, Profiles: map[string]string{"s2": "x"}, Aliases: []string{"Ann Lee", "Anna Lee"}, Affiliations: []string{"U"}})
	want := gleaner.Person{Author: gleaner.Author{PID: "1/2", Name: "Ann Lee"}, URLs: []string{"http://a/", "http://b/"}, Profiles: map[string]string{"s2": "x"}, Aliases: []string{"A. Lee", "Anna Lee"}, Affiliations: []string{"U"}}
	assert.Equal(t, want, p)
}
