package metadata_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/metadata"
)

// failingNet fails as net/http does: with the whole address in the error.
type failingNet struct{}

func (failingNet) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("dial for %s with %v: refused", r.URL, r.Header)
}

// No key is in a log or an error, whatever goes wrong: an answer that is out,
// that repeats what it was asked, that is broken, or none at all.
func TestKeysStaySecret(t *testing.T) {
	t.Parallel()
	const key = "s3cr3t/&key"
	wrong := func(status int, body string) http.RoundTripper {
		s := catalogues.New(catalogues.Catalogue{})
		s.Fail(catalogues.Fault{Status: status, Body: body})
		return s
	}
	for name, web := range map[string]http.RoundTripper{
		"out": wrong(503, ""), "echo": wrong(400, "bad key "+key), "denied": wrong(403, key), "broken": wrong(200, "{"), "page": wrong(200, "<html>"+key), "no net": failingNet{},
		"gone": wrong(404, ""), "strange": wrong(302, ""),
	} {
		var log bytes.Buffer
		cfg := metadata.Config{HTTPClient: &http.Client{Transport: web}, OpenAlexKey: key, SemanticScholarKey: key, Retries: 1, Backoff: time.Microsecond,
			Contact: "a@example.org", Log: slog.New(slog.NewTextHandler(&log, nil)), Delays: metadata.Delays{OpenAlex: 1, SemanticScholar: 1, Crossref: 1}}
		v := gleaner.Venue{Key: "journals/exa", IDs: map[string]string{"issn": "1234-5678"}}
		p := gleaner.Paper{Key: "a", Title: "T", DOI: "10.5555/a"}
		_, err1 := metadata.NewOpenAlex(cfg).Papers(t.Context(), v, gleaner.Years{From: 2003, To: 2003})
		_, err2 := metadata.NewSemanticScholar(cfg).Copies(t.Context(), p)
		_, err3 := metadata.NewCrossref(cfg).Papers(t.Context(), v, gleaner.Years{From: 2003, To: 2003})
		require.Error(t, err1, name)
		said := log.String() + fmt.Sprintf("%v %+v %#v", err1, err1, err1) + fmt.Sprintf("%v %#v %v %#v", err2, err2, err3, err3)
		assert.NotContains(t, said, "s3cr3t", name)
		if name == "out" {
			assert.Contains(t, log.String(), "asked again", "there was nothing to hide")
		}
	}
}

// away is a gate whose database is away.
type away struct{}

var errAway = errors.New("connection refused")

func (away) Turn(context.Context, string, time.Duration) (func(fetch.Visit), error) {
	return nil, errAway
}

// That turns cannot be taken is no service's fault, and no service is left alone
// for it.
func TestALossOfTheTurnsIsNobodysFault(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := catalogues.New(catalogues.Catalogue{Venue: "conf/exa", Name: "EXA", Volumes: []catalogues.Volume{{TOC: "db/conf/exa/exa2003", Year: 2003}}})
	g := &turnsAfter{n: 6}
	d := metadata.NewDBLP(metadata.Config{HTTPClient: s.Client(), Gate: g, Log: slog.New(slog.NewTextHandler(&log, nil)), Delays: metadata.Delays{DBLP: 1}})
	for range 6 {
		_, err := d.Volumes(t.Context(), "conf/exa", gleaner.Years{From: 2003, To: 2003})
		require.ErrorIs(t, err, errAway)
		require.False(t, errors.As(err, new(metadata.ErrUnavailable)), "%v", err)
	}
	_, err := d.Volumes(t.Context(), "conf/exa", gleaner.Years{From: 2003, To: 2003})
	require.NoError(t, err, "it is asked as soon as there are turns")
	assert.False(t, strings.Contains(log.String(), "left alone"), log.String())

	_, err = metadata.LocateCopies(t.Context(), []metadata.CopySource{metadata.NewUnpaywall(metadata.Config{Gate: away{}, Contact: "a@example.org"})},
		[]gleaner.Paper{{Key: "a", DOI: "10.5555/a"}})
	require.ErrorIs(t, err, errAway, "the copies are not taken for none")
}

// turnsAfter refuses n turns, and grants all after them.
type turnsAfter struct{ n int }

func (g *turnsAfter) Turn(context.Context, string, time.Duration) (func(fetch.Visit), error) {
	if g.n--; g.n >= 0 {
		return nil, errAway
	}
	return func(fetch.Visit) {}, nil
}
