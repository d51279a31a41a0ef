package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
)

// TestAnswersOfActionsAreAsDescribed: what is done, and what is refused, is told to a
// program as openapi.json says, and what a form may say is described there.
func TestAnswersOfActionsAreAsDescribed(t *testing.T) {
	t.Parallel()
	ear := &told{}
	d := sampled(t, func(o *Options) { o.Harvests, o.Jobs, o.Schedules = ear, jobTold{ear}, &clock{told: ear} })
	doc, err := openapi3.NewLoader().LoadFromData([]byte(d.page("/openapi.json")))
	require.NoError(t, err)
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	require.NoError(t, err)
	met := map[string]bool{}
	for _, ask := range []struct {
		path, form string
		code       int
	}{
		{"/harvests", "goal=conf/x&scope=host&warc=yes&max-pages=7", 200}, {"/harvests", "goal=conf/none", 404}, {"/estimates", "goal=conf/x", 200}, {"/harvests/conf%2Fwebdb%2F1998-1999", "do=pause", 200},
		{"/review", "paper=conf/webdb/P9&sha256=" + otherSHA + "&word=yes", 404}, {"/jobs", "job=retrieve&kind=pdf", 200}, {"/jobs", "job=retrieve&sample=few", 400}, {"/jobs/1", "do=run", 200},
		{"/blacklist", "do=add&host=rude.example", 200}, {"/users", "do=remove&user=nobody", 404},
		{"/password", "old=none&password=a+long+password", 400},
		{"/schedules", "do=create&kind=due&every=7d", 200},
		{"/sites/www.ada.example", "do=pause", 200},
		{"/collections", "name=maths&topics=knots", 200}, {"/collections/conf%2Fmaths", "do=cancel", 200},
		{"/lists/none", "do=remove", 400}, {"/uploads/none", "do=remove", 404},
		{"/lists", "name=own&list=title%0AA+Paper", 200},
		{"/people/1%2F1", "do=is&url=http://a.example/", 200}, {"/people/1%2F1", "do=is&url=http://ada:secret@a.example/", 400},
		{"/holdings", "do=preview&name=own.csv&list=title%0AA+Paper", 200},
		{"/holdings", "do=enter&name=own.csv&list=none", 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", d.server.URL+ask.path, strings.NewReader(ask.form))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		route, params, err := router.FindRoute(req)
		require.NoError(t, err, ask.path)
		met[route.Path] = true
		in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
		if err := openapi3filter.ValidateRequest(t.Context(), in); ask.code != 400 {
			require.NoError(t, err, ask.path)
		}
		res, body := d.do("POST", ask.path, ask.form, "Accept", "application/json")
		require.Equal(t, ask.code, res.StatusCode, "%s %s: %s", ask.path, ask.form, body)
		require.NotNil(t, route.Operation.Responses.Status(res.StatusCode), "%s: %d is not described", ask.path, res.StatusCode)
		out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options}
		out.SetBodyBytes([]byte(body))
		require.NoError(t, openapi3filter.ValidateResponse(t.Context(), out), "%s: %s", ask.path, body)
	}
	for path, item := range doc.Paths.Map() {
		require.True(t, item.Post == nil || met[path], "nothing was done at %s", path)
	}
}
