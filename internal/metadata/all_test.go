package metadata

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"gleaner/internal/gleaner"
)

type listed struct {
	name   string
	papers []gleaner.Paper
	err    error
}

func (l listed) Name() string { return l.name }

func (l listed) Papers(context.Context, gleaner.Venue, gleaner.Years) ([]gleaner.Paper, error) {
	return l.papers, l.err
}

func TestCollect(t *testing.T) {
	t.Parallel()
	a := gleaner.Paper{Key: "conf/exa/A", Year: 2003, Title: "One", DOI: "10.5555/a"}
	b := gleaner.Paper{Key: "doi:10.5555/b", Year: 2003, Title: "Two", DOI: "10.5555/b"}
	down := ErrUnavailable{Service: "x"}
	uncovered := ErrNotCovered{"y", "conf/exa", "issn"}
	collect := func(sources ...Source) (Known, error) {
		return Collect(t.Context(), sources, gleaner.Venue{Key: "conf/exa"}, single(2003))
	}
	k, err := collect(listed{"y", nil, uncovered}, listed{"dblp", []gleaner.Paper{a}, nil}, listed{"x", nil, down}, listed{"crossref", []gleaner.Paper{b}, nil})
	if err != nil || len(k.Records) != 2 || !reflect.DeepEqual(k.Failed, map[string]error{"x": down}) || !reflect.DeepEqual(k.NotCovered, map[string]error{"y": uncovered}) {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := collect(listed{"dblp", nil, down}, listed{"crossref", []gleaner.Paper{b}, nil}); !isUnavailable(err) {
		t.Errorf("the source that decides failed: %v", err)
	}
	var none ErrNoVolume
	if _, err := collect(listed{"y", nil, uncovered}); !errors.As(err, &none) {
		t.Errorf("no source covers it: %v", err)
	}
}

func TestCopySourcesWithoutKeys(t *testing.T) {
	t.Parallel()
	sources, unusable := CopySources(Config{})
	var names []string
	for _, s := range sources {
		names = append(names, s.Name())
	}
	if !reflect.DeepEqual(names, []string{"links", "s2", "arxiv"}) || !isRefused(unusable["unpaywall"]) || !isRefused(unusable["openalex"]) {
		t.Errorf("%v, %v", names, unusable)
	}
	if n := len(Sources(Config{OpenAlexKey: "k"})) - len(Sources(Config{})); n != 1 {
		t.Errorf("a key adds %d sources", n)
	}
}
