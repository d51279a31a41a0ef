package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

func TestResolveVenue(t *testing.T) {
	t.Parallel()
	venueHit := func(name, acronym, key string) string {
		return `{"venue":"` + name + `","acronym":"` + acronym + `","type":"Conference or Workshop","url":"https://dblp.org/db/` + key + `/"}`
	}
	replies := map[string][]reply{
		"/db/conf/exa/index.xml":                          one(exaIndex),
		"/db/conf/IEEEexa/index.xml":                      one(`<bht title="IEEE Examples (IEEE-EXA)"><h1>x</h1></bht>`),
		"/db/journals/jex/index.xml":                      one(jexIndex),
		"/db/conf/lone/index.xml":                         one(`<bht title="Lone"></bht>`),
		"/search/venue/api":                               one(hits(0, 0)),
		"/search/venue/api?f=0&format=json&h=100&q=EXA":   one(hits(2, 0, venueHit("Symposium on Examples (EXA)", "EXA", "conf/exa"), venueHit("Workshop EXA (EXA)", "EXA", "conf/wexa"))),
		"/search/venue/api?f=0&format=json&h=100&q=twice": one(hits(2, 0, venueHit("Twice (TWICE)", "TWICE", "conf/a"), venueHit("Twice (TWICE)", "TWICE", "conf/b"))),
		"/search/venue/api?f=0&format=json&h=100&q=exam":  one(hits(1, 0, venueHit("Symposium on Examples (EXA)", "EXA", "conf/exa"))),
		"/search/venue/api?f=0&format=json&h=100&q=none":  one(hits(1, 0, venueHit("Symposium on Nonesuch (NONESUCH)", "NONESUCH", "conf/nonesuch"))),
	}
	for _, c := range []struct {
		name string
		want gleaner.Venue
		err  error
	}{
		{"conf/exa", gleaner.Venue{Key: "conf/exa", Name: "EXA", Title: "Symposium on Examples"}, nil},
		{"CONF/EXA", gleaner.Venue{Key: "conf/exa", Name: "EXA", Title: "Symposium on Examples"}, nil},
		{"conf/IEEEexa", gleaner.Venue{Key: "conf/IEEEexa", Name: "IEEE-EXA", Title: "IEEE Examples"}, nil},
		{"https://dblp.org/db/conf/exa/index.html", gleaner.Venue{Key: "conf/exa", Name: "EXA", Title: "Symposium on Examples"}, nil},
		{"EXA", gleaner.Venue{Key: "conf/exa", Name: "EXA", Title: "Symposium on Examples"}, nil},
		{" jex ", gleaner.Venue{Key: "journals/jex", Name: "Journal of Examples"}, nil},
		{"lone", gleaner.Venue{Key: "conf/lone", Name: "Lone"}, nil},
		{"twice", gleaner.Venue{}, ErrAmbiguousVenue{}},
		{"none", gleaner.Venue{}, ErrUnknownVenue{}},
		{"conf/none", gleaner.Venue{}, ErrUnknownVenue{}},
		{"", gleaner.Venue{}, ErrUnknownVenue{}},
	} {
		cfg, _ := stubConfig(t, replies)
		got, err := NewDBLP(cfg).ResolveVenue(t.Context(), c.name)
		assert.Equal(t, c.want, got, c.name)
		assert.IsType(t, c.err, err, c.name)
		if c.name == "conf/none" {
			assert.Equal(t, "conf/nonesuch", as[ErrUnknownVenue](t, err).Suggestions[0].Key)
		}
	}
}

func TestResolveWithoutSearch(t *testing.T) {
	t.Parallel()
	cfg, _ := stubConfig(t, map[string][]reply{"/search/": {{status: 503}}, "/db/conf/exa/index.xml": one(exaIndex)})
	d := NewDBLP(cfg)
	v, err := d.ResolveVenue(t.Context(), "Exa")
	require.NoError(t, err)
	assert.Equal(t, "conf/exa", v.Key)
	// Nothing at its pages, and no search to say what else it may be.
	_, err = d.ResolveVenue(t.Context(), "Symposium on Examples")
	assert.True(t, is[ErrUnavailable](err))
}

func TestVariations(t *testing.T) {
	t.Parallel()
	v := gleaner.Venue{Key: "conf/webexa", Name: "WebExa", Title: "Workshop on Web Examples"}
	assert.Equal(t, []string{"WebExa", "Workshop on Web Examples"}, Variations(v))
}
