package console

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
)

// route is one address of the console: openapi.json describes it, and answer makes
// what it shows.
type route struct {
	method, path string
	may          store.Role // the least that may
	page         string     // the template; "" where browsers are led on to another page
	what         string     // in a sentence
	params       []param
	answer       func(ctx context.Context, c *Console, a *asked) (any, error)
	shows        any // an empty one of what answer makes
}

// param is what may be said in the address, or in a form.
type param struct {
	name, what string
	one        []string // of which it is one; nil for anything
	number     bool
	required   bool
}

// asked is a request with its parameters checked.
type asked struct {
	*http.Request
	params []param
}

// get is a parameter, "" where it was not given.
func (a *asked) get(name string) string {
	if v := a.PathValue(name); v != "" {
		return v
	}
	return a.Form.Get(name)
}

// number is one that was checked to be a number; 0 where it was not given.
func (a *asked) number(name string) int {
	n, _ := strconv.Atoi(a.Form.Get(name))
	return n
}

// years are those of one year, or none.
func (a *asked) years() gleaner.Years {
	y := a.number("year")
	return gleaner.Years{From: y, To: y}
}

// read reads the form, and files that were sent with it.
func (a *asked) read() error {
	err := a.ParseForm()
	if kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		err = a.ParseMultipartForm(maxList) // all that may be sent: no file is kept on disk
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge) && tooLarge.Limit >= maxList:
		return fmt.Errorf("%w: a list has at most %d MB (`starter holdings import FILE` takes longer ones)", errTooLarge, maxList>>20)
	case errors.As(err, &tooLarge):
		return fmt.Errorf("%w: a form has at most %d KB", errTooLarge, tooLarge.Limit>>10)
	case err != nil:
		return fmt.Errorf("%w: %w", errInput, err)
	}
	return nil
}

// check holds what was given to what may be.
func (a *asked) check() error {
	if err := a.read(); err != nil {
		return err
	}
	for _, p := range a.params {
		v := a.get(p.name)
		if v == "" {
			if p.required {
				return fmt.Errorf("%w: a field is empty: %s (%s)", errInput, p.what, p.name)
			}
			continue
		}
		if len(p.one) > 0 && !slices.Contains(p.one, v) {
			return fmt.Errorf("%w: %s is one of %v", errInput, p.name, p.one)
		}
		if _, err := strconv.ParseUint(v, 10, 31); p.number && err != nil { // an integer of the record
			return fmt.Errorf("%w: %s is a whole number of at most nine digits", errInput, p.name)
		}
	}
	return nil
}

// answer serves a route.
func (c *Console) answer(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		a := &asked{Request: r, params: to.params}
		err := a.check()
		var data any
		if err == nil {
			data, err = to.answer(ctx, c, a)
		}
		if err != nil {
			c.refuse(w, a, err)
			return
		}
		if on, ok := data.(interface{ Onward() redirect }); ok && !asJSON(r) && on.Onward().to != "" {
			lead(c, w, r, on.Onward())
			return
		}
		c.show(w, r, http.StatusOK, to.page, data)
	})
}

// refusal is a form that was sent and refused, kept while its page is shown again.
type refusal struct {
	code int
	err  error
}

type refusalKey struct{}

// refusalOf is the refused form of whose page a request is; nil of others.
func refusalOf(ctx context.Context) *refusal {
	f, _ := ctx.Value(refusalKey{}).(*refusal)
	return f
}

// refuse answers with an error. A form that says something wrong is shown again, on the
// page from which it was sent, with all that was written.
func (c *Console) refuse(w http.ResponseWriter, a *asked, err error) {
	r, code := a.Request, status(err)
	// The page that has the form of an export.
	own := strings.TrimSuffix(strings.Replace(r.URL.EscapedPath(), "/exports/", "/harvests/", 1), "/export")
	var away metadata.ErrUnavailable
	if errors.As(err, &away) { // its reasons are for the log
		c.log.WarnContext(r.Context(), "console: a catalogue does not answer", "path", r.URL.Path, "error", err)
		err = fmt.Errorf("the catalogue %s does not answer", away.Service)
		if away.RetryAfter > 0 {
			err = fmt.Errorf("%w, and is not asked again before %s", err, when(time.Now().Add(away.RetryAfter)))
		}
	}
	if !errors.Is(err, errListing) && (code == http.StatusBadGateway || code == http.StatusGatewayTimeout) {
		named := "a venue by its key, such as conf/webdb"
		if a.get("kind") == "author" {
			named = "a person by DBLP's id, such as 65/2885"
		}
		err = fmt.Errorf("%w; name %s, or try again later", err, named)
	}
	shownAgain := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge,
		http.StatusBadGateway, http.StatusGatewayTimeout}
	if was := refusalOf(r.Context()); was != nil { // its page cannot be shown either
		r, err = r.WithContext(context.WithValue(r.Context(), refusalKey{}, nil)), was.err
	} else if slices.Contains(shownAgain, code) && !asJSON(r) &&
		(r.Method == http.MethodPost || own != r.URL.EscapedPath()) {
		for _, at := range []string{a.was(own), own, "/"} {
			page := formPage(a, at, &refusal{code, err})
			h, pattern := c.inside.Handler(page)
			if _, ours := h.(http.HandlerFunc); ours && strings.HasPrefix(pattern, "GET ") { // and leads nowhere else
				c.inside.ServeHTTP(w, page)
				return
			}
		}
	}
	c.fail(w, r, err)
}

// formPage asks for the page at an address, to show a form that was sent from it again.
func formPage(a *asked, at string, f *refusal) *http.Request {
	r := a.Clone(context.WithValue(a.Context(), refusalKey{}, f))
	r.Method, r.RequestURI, r.Body, r.MultipartForm = http.MethodGet, at, http.NoBody, nil
	r.Header.Del("Content-Type")
	r.URL, _ = url.Parse(at) // an address that was parsed before
	r.Form, r.PostForm = r.URL.Query(), a.PostForm
	return r
}

// pageSize is how many rows a page lists.
const pageSize = 50

// more cuts a list that was asked for one row more than a page has, and says from
// where the next page goes on.
func more[T any](rows []T, key func(T) string) ([]T, string) {
	return each.Page(rows, pageSize, key)
}

// place is an address of the console, and the least role that is served there.
type place struct {
	pattern string
	may     store.Role
	serve   http.Handler
}

// places are all that is served to who is let in: the pages, and what is none.
func (c *Console) places() []place {
	all := []place{
		{"GET /documents/{sha256}/page.png", store.Reader, http.HandlerFunc(c.picture)},
		{"GET /documents/{sha256}/file", store.Reader, http.HandlerFunc(c.file)},
		{"GET /exports/{id...}", store.Reader, c.saved(exportParams(), exported)},
		{"GET /collections/{name}/export", store.Reader, c.saved(exportParams()[:2], exportedCollection)},
		{"GET /jobs/{id}/lines.csv", store.Reader, c.saved(nil, jobLines)},
		{"GET /papers.csv", store.Reader, c.saved(paperParams(), paperLines)},
		{"GET /failures.csv", store.Reader, c.saved(failureParams(), failedLines)},
		{"POST " + uploadsPath, store.Editor, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { upload(c, w, r) })},
		{"GET /openapi.json", store.Reader, http.HandlerFunc(c.serveOpenAPI)},
	}
	for _, r := range routes() {
		all = append(all, place{r.method + " " + r.path, r.may, c.answer(r)})
	}
	return all
}

// routes are all addresses of the console, but for the log-in, the style and pictures.
func routes() []route {
	after := param{name: "after", what: "what the page before gave as next"}
	harvestID := param{name: "harvest", what: "id of a harvest"}
	inState := func(of ...string) param { return param{name: "state", what: "only those in this state", one: of} }
	all := []route{
		{"GET", "/{$}", store.Reader, "harvests", "Lists harvests and how far they are, the latest first.", []param{after}, harvests, harvestsPage{}},
		{"GET", "/harvests/{id...}", store.Reader, "harvest", "Says how far a harvest is, and what fails of it now.", nil, harvest, harvestPage{}},
		{"POST", "/harvests", store.Editor, "", "Starts a harvest, or joins the one that runs.", harvestParams(), startHarvest, donePage{}},
		{"POST", "/estimates", store.Editor, "estimate", "Says what a harvest would have to do. Nothing is kept, and no site is asked.", harvestParams(), estimate, Estimated{}},
		{"POST", listsPath, store.Editor, "estimate",
			"Enters a list of wanted papers, and says what its harvest would have to do.",
			[]param{{name: "name", what: "of the list (default: of the file)"}, {name: "replace", what: "the list of the same name", one: []string{"yes"}},
				{name: "list", what: "papers as BibTeX, RIS, CSV, JSON Lines, or DOIs, at most 8 MB"}}, enterList, Estimated{}},
		{"POST", "/harvests/{id...}", store.Editor, "", "Pauses, resumes, cancels, retries or runs a harvest again, or removes one that ended.", []param{
			{name: "do", what: "what to do", one: []string{doPause, doResume, doCancel, doRetry, doAgain, doRemove},
				required: true},
			{name: "site", what: "retry what failed on this host alone"},
			{name: "reason", what: "retry what failed for this reason alone"},
			{name: "schedule", what: "remove its schedule with it", one: []string{"yes"}}}, actOnHarvest, donePage{}},
		{"GET", "/reports/{id...}", store.Reader, "report", "Reports what a harvest came to: recall by year, every missing paper and why it is missing, sites.", nil, harvestReport, reportPage{}},
		{"GET", "/papers", store.Reader, "papers", "Lists papers of a harvest by key: held, found or missing, and why they are missing.", append(paperParams(), after), papers, papersPage{}},
		{"GET", "/failures", store.Reader, "failures", "Lists the URLs of a harvest that failed, with the reason and the next try, by host.",
			append(failureParams(), after), failed, failuresPage{}},
		{"GET", "/papers/{key...}", store.Reader, "paper", "Shows a paper, where catalogues say that copies are, and the documents that were compared with it.", nil, paper, paperPage{}},
		{"GET", "/homepages", store.Reader, "homepages",
			"Lists the authors of a harvest's wanted papers by name, with their homepages, or why there are none.",
			[]param{harvestID, {name: "missing", what: "only authors without a homepage", one: []string{"yes"}},
				{name: "after", what: after.what, number: true}}, homepages, homepagesPage{}},
		{"GET", "/people/{id...}", store.Reader, "person", "Shows an author: their homepages, what was looked at and why it was kept or not, and their papers.", nil, person, personPage{}},
		{"POST", "/people/{id...}", store.Editor, "", "Says that a page is an author's homepage or is not, or takes that back.", []param{
			{name: "do", what: "what to say", one: []string{"is", "is-not", doForget}, required: true},
			{name: "url", what: "address of the page", required: true}}, actOnPerson, donePage{}},
		{"GET", "/sites", store.Reader, "sites", "Lists sites by host, with their state and when they may be asked again.", []param{harvestID, {name: "name", what: "how the host begins, with www. or without"}, inState(gleaner.SiteStates()...),
			{name: "barred", what: "only those that are paused or on the blacklist", one: []string{"yes"}},
			after}, sites, sitesPage{}},
		{"GET", "/sites/{host}", store.Reader, "site", "Shows a site: its state, pace, next allowed request and why, and what failed there.", nil, site, sitePage{}},
		{"POST", "/sites/{host}", store.Editor, "", "Pauses a site, lets it be asked again, or has it asked less often.", []param{
			{name: "do", what: "what to do", one: []string{doPause, doResume, doSlow}, required: true},
			{name: "reason", what: "why it is paused, for whoever asks later"},
			{name: "delay", what: "least time between two requests of a site that is slowed, such as 30s, at most 4m; 0s takes it back"}}, actOnSite, donePage{}},
	}
	return append(all, otherRoutes(after)...)
}

// otherRoutes are those of what is on record beside harvests and sites.
func otherRoutes(after param) []route {
	inState := func(of ...string) param { return param{name: "state", what: "only those in this state", one: of} }
	toRemove := param{name: "do", what: "what to do", one: []string{doRemove}, required: true}
	return []route{
		{"GET", "/documents", store.Reader, "documents", "Lists documents in the order in which they came.", []param{inState(documentStates()...), {name: "class", what: "judged to be this", one: document.Classes()},
			{name: "site", what: "found on this host"}, {name: "venue", what: "papers of this venue, person or list"}, {name: "text", what: "what the first pages say, in any case"},
			{name: "after", what: after.what, number: true}}, documents, documentsPage{}},
		{"GET", "/documents/{sha256}", store.Reader, "document", "Shows a document: where it is from, how it was judged and matched, and how it begins.", nil, oneDocument, documentPage{}},
		{"GET", "/urls", store.Reader, "url", "Says all that is known of a URL: why it was taken when it was, and what came of it.", []param{{name: "url", what: "an address", required: true}}, explained, urlPage{}},
		{"GET", "/review", store.Reader, "review", "Lists matches that wait for a person's word, the likeliest first.", []param{{name: "venue", what: "of one venue"}, {name: "settled", what: "what was settled instead", one: []string{"yes"}}, after}, reviews, reviewPage{}},
		{"POST", "/review", store.Editor, "", "Settles whether a document is a paper.", []param{{name: "paper", what: "key of the paper", required: true}, {name: "sha256", what: "SHA-256 of the document, or an address where it lies", required: true},
			{name: "word", what: "the word on it", one: []string{"yes", "no", "undo"}, required: true}}, settle, settledPage{}},
		{"GET", "/jobs", store.Reader, "jobs", "Lists jobs, the latest first.", []param{
			{name: "after", what: after.what, number: true},
			{name: "path", what: "file within the folder for imports that the form of an import names"}}, jobs, jobsPage{}},
		{"POST", "/jobs", store.Editor, "", "Sets up a job, and starts it. A cleaning only lists what would go.", append([]param{{name: "job", what: "what to do", one: jobfile.Kinds(), required: true}}, jobParams()...), startJob, donePage{}},
		{"POST", uploadsPath + "/{name}", store.Editor, "", "Removes a file that was sent to be imported.",
			[]param{toRemove}, removeUpload, donePage{}},
		{"POST", listsPath + "/{name}", store.Editor, "",
			"Removes a list of wanted papers of which no harvest is on record.", []param{toRemove}, removeList, donePage{}},
		{"GET", "/jobs/{id}", store.Reader, "job", "Shows a job, and what became of each file, document or page.", []param{{name: "differs", what: "only what differs from what its files promise", one: []string{"yes"}},
			{name: "after", what: after.what, number: true}}, job, jobPage{}},
		{"POST", "/jobs/{id}", store.Editor, "", "Runs a job again, cancels it, changes its options, or removes what its dry run listed.", append([]param{{name: "do", what: "what to do", one: []string{doRun, doCancel, doModify, doConfirm}, required: true}}, jobParams()...), actOnJob, donePage{}},
		{"GET", "/collections", store.Reader, "collections", "Lists collections by topic, the latest first.", []param{{name: "after", what: after.what, number: true}}, allCollections, collectionsPage{}},
		{"POST", "/collections", store.Editor, "", "Has a collection by topic made, or goes on with one that ended.",
			collectionParams(), makeCollection, donePage{}},
		{"POST", "/collections/{name}", store.Editor, "",
			"Pauses, resumes or cancels the making of a collection, or removes one that ended.",
			[]param{{name: "do", what: "what to do", one: []string{doPause, doResume, doCancel, doRemove},
				required: true}}, actOnCollection, donePage{}},
		{"GET", "/collections/{name}", store.Reader, "collection", "Shows what is in the collection of a topic, the most similar first, and how full those of the others are.", []param{{name: "topic", what: "that is shown (default: the first)"}, after}, oneCollection, collectionPage{}},
		{"GET", "/schedules", store.Reader, "schedules", "Lists the schedules, with their next run.",
			nil, schedules, schedulesPage{}},
		{"POST", "/schedules", store.Editor, "", "Makes a schedule, or pauses, resumes or removes one.",
			scheduleParams(), changeSchedule, donePage{}},
		{"GET", holdingsPath, store.Reader, "holdings", "Lists the lists of what the library holds, the last entered first.",
			nil, holdings, holdingsPage{}},
		{"POST", holdingsPath, store.Editor, "holdings", "Looks at a list of what the library holds, enters it, or takes one back.",
			holdingsParams(), changeHoldings, holdingsPage{}},
		{"GET", "/parents", store.Reader, "parents", "Lists pages that lead to documents, by host, with their first and last crawl.", []param{{name: "site", what: "on this host"}, after}, parents, parentsPage{}},
		{"GET", "/whitelist", store.Reader, "whitelist", "Lists pages worth a crawl, the best domain's first.", []param{after}, whitelist, whitelistPage{}},
		{"GET", "/blacklist", store.Reader, "blacklist", "Lists hosts that are never asked, by name.",
			[]param{after, {name: "host", what: "that the form for another names"}}, blacklist, blacklistPage{}},
		{"POST", "/blacklist", store.Administrator, "", "Puts a host on the blacklist, or takes it off.", []param{{name: "do", what: "what to do", one: []string{doAdd, doRemove}, required: true}, {name: "host", what: "its name", required: true},
			{name: "reason", what: "why; of a host that is added it is in the list, else in the log"}}, block, donePage{}},
		{"GET", "/users", store.Administrator, "users", "Lists who may use the console, and what they may do.", nil, users, usersPage{}},
		{"POST", "/users", store.Administrator, "", "Lets somebody use the console, says what they may do, or shuts them out.", []param{{name: "do", what: "what to do", one: []string{doAdd, doRole, doRemove}, required: true},
			{name: "user", what: "a name", required: true}, {name: "role", what: "what they may do", one: roleNames()}, {name: "password", what: "of somebody who is added, or their new one"}, {name: "again", what: "the same password again, against slips of the pen"}}, changeUser, donePage{}},
		{"GET", "/password", store.Reader, "password", "Asks for another password of who is logged in.", nil, ownPassword, passwordPage{}},
		{"POST", "/password", store.Reader, "", "Gives who is logged in another password, and logs them out everywhere.", []param{{name: "old", what: "the password until now", required: true},
			{name: "password", what: "the new one", required: true}}, changePassword, donePage{}},
		{"GET", "/statistics", store.Reader, "statistics", "Counts what became of every file, what failed, and which sites and domains gave most.", nil, statistics, statisticsPage{}},
	}
}
