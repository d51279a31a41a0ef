package console

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/openapi3gen"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
)

var writeOpenAPI = flag.Bool("write-openapi", false, "write openapi.json anew from the routes")

// TestOpenAPI: openapi.json is what the routes make, so that programs can rely on it
// and a change of it is seen.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(described(t))
	require.NoError(t, err)
	var made bytes.Buffer
	require.NoError(t, json.Indent(&made, raw, "", "  "))
	made.WriteByte('\n')
	if *writeOpenAPI {
		require.NoError(t, os.WriteFile("openapi.json", made.Bytes(), 0o644))
	}
	kept, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	require.Equal(t, string(kept), made.String(),
		"what pages answer has changed; go test ./internal/console -run TestOpenAPI -args -write-openapi describes it anew")
}

// described makes the document of the routes.
func described(t *testing.T) *openapi3.T {
	doc := &openapi3.T{OpenAPI: "3.0.3", Paths: openapi3.NewPaths(), Components: &openapi3.Components{Schemas: openapi3.Schemas{}, SecuritySchemes: openapi3.SecuritySchemes{
		"password": &openapi3.SecuritySchemeRef{Value: openapi3.NewSecurityScheme().WithType("http").WithScheme("basic")}}},
		Info:     &openapi3.Info{Title: "Gleaner's console", Version: "1", Description: "The data of every page, for Accept: application/json or format=json. While there are no users nobody has to log in."},
		Security: *openapi3.NewSecurityRequirements().With(openapi3.NewSecurityRequirement().Authenticate("password")).With(openapi3.NewSecurityRequirement())}
	wrong, err := openapi3gen.NewSchemaRefForValue(failure{}, doc.Components.Schemas, options3...)
	require.NoError(t, err)
	for _, r := range routes() {
		shows, err := openapi3gen.NewSchemaRefForValue(r.shows, doc.Components.Schemas, options3...)
		require.NoError(t, err, r.path)
		op := openapi3.NewOperation()
		op.OperationID, op.Summary = strings.ToLower(r.method)+strings.NewReplacer("/", "-", "{$}", "harvests-all", "...", "", "{", "", "}", "").Replace(r.path), r.what
		op.Responses = openapi3.NewResponses(
			openapi3.WithStatus(200, &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("the data of the page").WithJSONSchemaRef(shows)}),
			openapi3.WithName("default", openapi3.NewResponse().WithDescription("why not").WithJSONSchemaRef(wrong)))
		if r.method == http.MethodPost {
			op.Responses.Value("200").Value.WithDescription("what was done")
			op.Responses.Set("303", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("the same for a browser, which is led on to the page that shows it")})
			for code, why := range map[string]string{"400": "something is missing, or is none of what may be said", "401": "log in first", "403": "the role, or this console, does not allow it", "404": "there is no such thing, or it does not run", "503": "a server that it takes does not answer"} {
				op.Responses.Set(code, &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(why).WithJSONSchemaRef(wrong)})
			}
		}
		path := strings.NewReplacer("{$}", "", "...", "").Replace(r.path)
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			op.AddParameter(openapi3.NewPathParameter(m[1]).WithSchema(openapi3.NewStringSchema()))
		}
		form := openapi3.NewObjectSchema()
		for _, p := range r.params {
			s := openapi3.NewStringSchema()
			if p.number {
				s = openapi3.NewIntegerSchema()
			}
			for _, one := range p.one {
				s.Enum = append(s.Enum, one)
			}
			if s.Description = p.what; r.method == http.MethodGet {
				s.Description = ""
				op.AddParameter(openapi3.NewQueryParameter(p.name).WithDescription(p.what).WithRequired(p.required).WithSchema(s))
				continue
			}
			form.WithProperty(p.name, s)
			if p.required {
				form.Required = append(form.Required, p.name)
			}
		}
		if r.method == http.MethodPost {
			op.RequestBody = &openapi3.RequestBodyRef{Value: openapi3.NewRequestBody().WithRequired(true).WithSchema(form, []string{"application/x-www-form-urlencoded"})}
		}
		doc.AddOperation(path, r.method, op)
	}
	return doc
}

// options3 describe types as encoding/json writes them: what has no omitempty is
// always there.
var options3 = []openapi3gen.Option{openapi3gen.UseAllExportedFields(), openapi3gen.SchemaCustomizer(func(_ string, t reflect.Type, _ reflect.StructTag, s *openapi3.Schema) error {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		*s = *openapi3.NewSchema()
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		s.Nullable = true
	}
	return nil
})}

// held is what a console answers, held to openapi.json.
type held struct {
	*desk
	doc    *openapi3.T
	router routers.Router
	met    map[string]bool // paths of which something was asked
}

func (d *desk) held() held {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(d.page("/openapi.json")))
	require.NoError(d.t, err)
	require.NoError(d.t, doc.Validate(d.t.Context()))
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	require.NoError(d.t, err)
	return held{d, doc, router, map[string]bool{}}
}

// asks asks for what is answered with a code, as a program does.
func (h held) asks(method, path, form string, code int) {
	h.t.Helper()
	ctx := h.t.Context()
	req, err := http.NewRequestWithContext(ctx, method, h.server.URL+path, strings.NewReader(form))
	require.NoError(h.t, err)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	route, params, err := h.router.FindRoute(req)
	require.NoError(h.t, err, path)
	h.met[route.Path] = true
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if err := openapi3filter.ValidateRequest(ctx, in); code != http.StatusBadRequest {
		require.NoError(h.t, err, path)
	}
	res, body := h.do(method, path, form, "Accept", "application/json")
	require.Equal(h.t, code, res.StatusCode, "%s %s: %s", path, form, body)
	require.NotNil(h.t, route.Operation.Responses.Status(code), "%s: %d is not described", path, code)
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: code, Header: res.Header,
		Options: in.Options}
	out.SetBodyBytes([]byte(body))
	require.NoError(h.t, openapi3filter.ValidateResponse(ctx, out), "%s: %s", path, body)
}

// TestAnswersAreAsDescribed: what every page says to a program is what openapi.json
// says that it is.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	h := sampled(t, nil).held()
	for _, path := range samplePages() {
		h.asks("GET", path, "", 200)
	}
	for path, item := range h.doc.Paths.Map() {
		require.True(t, item.Get == nil || h.met[path], "no page of %s was read", path)
	}
}

// TestAnswersOfActionsAreAsDescribed: what is done, and what is refused, is told to a
// program as openapi.json says, and what a form may say is described there.
func TestAnswersOfActionsAreAsDescribed(t *testing.T) {
	t.Parallel()
	h := sampled(t, nil).held()
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
		h.asks("POST", ask.path, ask.form, ask.code)
	}
	for path, item := range h.doc.Paths.Map() {
		require.True(t, item.Post == nil || h.met[path], "nothing was done at %s", path)
	}
}
