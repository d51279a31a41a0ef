package metadata

import (
	"testing"
	"time"

	"gleaner/internal/realdata"
	"gleaner/internal/venue"
)

func TestRealVenues(t *testing.T) {
	t.Parallel()
	farm := realdata.StartFarm(t, "")
	d := NewDBLP(Config{
		DBLPURL: "http://dblp.org", DBLPMirrorURL: "-", Delays: Delays{DBLP: time.Millisecond},
		HTTPClient: farm.Client(),
	})
	for _, c := range []struct {
		name  string
		key   string
		years venue.Years
		want  int
	}{
		{"conf/farm", "conf/farm", venue.Years{From: 1994, To: 2026}, 182},
		{"COLT", "conf/colt", venue.Years{From: 2016, To: 2018}, 237},
	} {
		v, err := d.ResolveVenue(t.Context(), c.name)
		if err != nil || v.Key != c.key {
			t.Fatalf("ResolveVenue(%q) = %+v, %v", c.name, v, err)
		}
		papers, err := d.List(t.Context(), v, c.years)
		if err != nil {
			t.Fatal(err)
		}
		authors := map[string]bool{}
		for _, p := range papers {
			if p.Title == "" || len(p.Authors) == 0 || !c.years.Contains(p.Year) {
				t.Errorf("incomplete: %+v", p)
			}
			for _, a := range p.Authors {
				authors[a.ID()] = true
			}
		}
		t.Logf("%s %s: %d papers, %d authors", v.Key, c.years, len(papers), len(authors))
		if len(papers) != c.want {
			t.Errorf("%s: %d papers, want %d", v.Key, len(papers), c.want)
		}
	}
	p, err := d.Person(t.Context(), "167/1454")
	if err != nil || len(p.URLs) != 1 || len(p.Titles) == 0 {
		t.Errorf("Person: %+v, %v", p, err)
	}
}
