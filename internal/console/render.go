package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed static
var static embed.FS

type pageTemplate = *template.Template

// parsePages makes one template of each page and the frame around it.
func parsePages() (map[string]pageTemplate, error) {
	frame, err := template.New("frame.html").Funcs(functions()).ParseFS(templates, "templates/frame.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]pageTemplate{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "frame" {
			continue
		}
		t, err := frame.Clone()
		if err == nil {
			t, err = t.ParseFS(templates, file)
		}
		if err != nil {
			return nil, err
		}
		pages[name] = t
	}
	return pages, nil
}

func functions() template.FuncMap {
	return template.FuncMap{
		"percent": func(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) },
		"recall":  report.RecallOf,
		"year":    report.YearOf,
		"whole":   report.Whole,
		"join":    strings.Join,
		"count":   text.Count[int],
		"noun":    text.Noun[int],
		"countIs": text.CountIs,
		"counter": func(name string) string { return countedRow{Name: name}.Label() },
		"segment": url.PathEscape, // html/template leaves slashes and question marks in a path as they are
		"web":     webAddress,
		"pieces":  pieces,
		"when":    when,
		"due": func(at *time.Time) string {
			if at != nil && at.Before(time.Now()) {
				return "with the next recrawl"
			}
			return when(at)
		},
		"timeForm": func() string { return TimeForm },
		"nextTry": func(at *time.Time, forGood bool) string {
			return store.Failure{Next: at, ForGood: forGood}.NextWords(TimeForm)
		},
		"short":   func(sha string) string { return sha[:min(len(sha), 12)] },
		"set":     withParam,
		"tab":     func(here, own, to, name string) tab { return tab{here == own, to, name} },
		"follow":  follow,
		"options": options[string],
		"json":    func(address string) string { return withParam(address, "format", "json") },
		"csv":     csvOf,
		"ask":     func(does, do, lost string) question { return question{does, do, lost} },
		"query":   url.QueryEscape,
		"choice":  choice,
		"plainly": plainly,
		"first":   func(all []store.HarvestPaper) []store.HarvestPaper { return all[:min(len(all), mostTitles)] },
		"beyond":  func(all []store.HarvestPaper) int { return max(0, len(all)-mostTitles) },

		"documentStates": documentStates, "documentClasses": document.Classes, "siteStates": gleaner.SiteStates,
		"paperStates": paperStates, "paperReasons": reasonNames,
		"roles": roleNames, "exportFormats": ExportFormats, "policies": policyNames,
		"intervals": intervals, "intervalWords": intervalWords, "scheduleOf": scheduleOf,
	}
}

// TimeForm is the form of moments for people.
const TimeForm = "2 Jan 2006, 15:04:05 MST"

// when says a moment to a person.
func when(t any) string {
	switch t := t.(type) {
	case time.Time:
		if !t.IsZero() {
			return t.Local().Format(TimeForm)
		}
	case *time.Time:
		if t != nil {
			return when(*t)
		}
	}
	return "–"
}

// webAddress is a stranger's address where it may be a link, else "".
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return s
}

// piece is a part of a line; URL where it is an address.
type piece struct{ Text, URL string }

var anAddress = regexp.MustCompile(`https?://\S+`)

// pieces finds the addresses in a line of evidence.
func pieces(line string) (all []piece) {
	for line != "" {
		at := anAddress.FindStringIndex(line)
		if at == nil {
			return append(all, piece{Text: line})
		}
		found := strings.TrimRight(line[at[0]:at[1]], ":,.;)")
		if at[0] > 0 {
			all = append(all, piece{Text: line[:at[0]]})
		}
		all = append(all, piece{Text: found, URL: webAddress(found)})
		line = line[at[0]+len(found):]
	}
	return all
}

// withParam is an address with a parameter set, or taken out where it is "".
func withParam(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// lively is a page that changes by itself, while it does.
type lively interface{ Live() bool }

// view is what the frame and the page in it are made of.
type view struct {
	who
	Address string // of the page, as asked for
	Here    string // the first part of its path
	Live    bool
	Again   bool       // what the form asks goes on: it is sent again
	Notice  string     // what was done before this page was led to
	Wrong   string     // what is wrong with the form that was sent from this page
	Given   url.Values // what the form said that was sent
	Data    any
}

// User is who looks, "" where nobody has to log in.
func (v view) User() string { return v.name }

// Role is what they may do, "" for who has to log in first.
func (v view) Role() store.Role { return v.role }

// Edits reports whether who looks may start, end and settle things.
func (v view) Edits() bool { return v.may(store.Editor) }

// Administers reports whether who looks may say who may, and what is never asked.
func (v view) Administers() bool { return v.may(store.Administrator) }

// Password reports whether who looks has a password here.
func (v view) Password() bool { return v.password }

// asJSON reports whether a program asks.
func asJSON(r *http.Request) bool {
	if f := r.URL.Query().Get("format"); f != "" {
		return f == "json"
	}
	for accepted := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		switch kind, _, _ := strings.Cut(strings.TrimSpace(accepted), ";"); kind {
		case "application/json":
			return true
		case "text/html":
			return false
		}
	}
	return false
}

// show answers with a page, or with its data.
func (c *Console) show(w http.ResponseWriter, r *http.Request, code int, name string, data any) {
	w.Header().Add("Vary", "Accept")
	if !asJSON(r) {
		c.render(w, r, code, name, data)
		return
	}
	if long, is := data.(interface{ WriteJSON(io.Writer) error }); is {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if err := long.WriteJSON(w); err != nil {
			c.log.WarnContext(r.Context(), "console: a report was cut off", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		}
		return
	}
	body, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		c.log.ErrorContext(r.Context(), "console: no JSON", "path", r.URL.Path, "error", err)
		http.Error(w, "this cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(body, '\n'))
}

// view is what is shown of data to who asks.
func (c *Console) view(r *http.Request, data any) view {
	v := view{who: asker(r.Context()), Address: r.URL.RequestURI(), Given: r.PostForm, Data: data}
	switch v.Here, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); v.Here {
	case "harvests", "reports", "papers", "failures", "estimates", "lists", "homepages", "people":
		v.Here = ""
	}
	if l, ok := data.(lively); ok && r.Method == http.MethodGet {
		v.Live = l.Live()
	}
	if f := refusalOf(r.Context()); f != nil {
		v.Wrong, v.Live, v.Again = plainly(f.err.Error()), false, errors.Is(f.err, errListing)
	}
	return v
}

func (c *Console) render(w http.ResponseWriter, r *http.Request, code int, name string, data any) {
	v := c.view(r, data)
	if v.role != "" {
		v.Notice = noticeOf(c, w, r)
	}
	if _, ok := v.Data.(lively); ok && v.Notice != "" {
		v.Live = true // what was done may begin to show a while later
	}
	if f := refusalOf(r.Context()); f != nil {
		code = f.code
	}
	var page bytes.Buffer
	if err := c.pages[name].Execute(&page, v); err != nil {
		c.log.ErrorContext(r.Context(), "console: no page", "page", name, "error", err)
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes())
}

// Errors of requests.
var (
	errNoPage    = errors.New("there is no such page")
	errHost      = errors.New("this console is asked by a name that is not this machine's; whoever runs it can give it that name")
	errForwarded = errors.New("a proxy passed this on, and this console has no users who could log in; whoever runs it can add one")
	errKey       = errors.New("this console has no users: open the address with the key that was printed when it was started")
	errForeign   = errors.New("this was sent from a page of another site")
	errLogin     = errors.New("log in first")
	errRole      = errors.New("this is not allowed")
	errWrong     = errors.New("user or password is wrong")
	errTooMany   = errors.New("too many wrong passwords: wait a minute, and try again")
	errInput     = errors.New("wrong input")
	errTooLarge  = errors.New("this is too much at once")
	errSlow      = errors.New("the catalogue does not answer")
	errListing   = errors.New("the catalogue is still listing the papers of")
)

// status is what an error comes to.
func status(err error) int {
	switch {
	case errors.Is(err, errHost):
		return http.StatusMisdirectedRequest
	case errors.Is(err, errForeign), errors.Is(err, errForwarded), errors.Is(err, errRole):
		return http.StatusForbidden
	case errors.Is(err, errLogin), errors.Is(err, errKey), errors.Is(err, errWrong), errors.Is(err, errProvider):
		return http.StatusUnauthorized
	case errors.Is(err, errTooMany):
		return http.StatusTooManyRequests
	case errors.Is(err, errNoPage), errors.Is(err, store.ErrNoPaper):
		return http.StatusNotFound
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errInput), errors.Is(err, tables.ErrInput), errors.Is(err, ingest.ErrInput):
		return http.StatusBadRequest
	case errors.Is(err, errSlow), errors.Is(err, errListing):
		return http.StatusGatewayTimeout
	case errors.As(err, &metadata.ErrUnavailable{}):
		return http.StatusBadGateway
	}
	switch program.ExitCode(err) {
	case program.ExitUsage:
		return http.StatusBadRequest
	case program.ExitUnknown:
		return http.StatusNotFound
	case program.ExitUnavailable:
		return http.StatusServiceUnavailable
	}
	if store.Away(err) || errors.Is(err, repository.ErrAway) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failure is the page of an error.
type failure struct {
	Status int    `json:"status"`
	Reason string `json:"error"`
}

func (f failure) Title() string { return http.StatusText(f.Status) }

// fail answers with an error. What went wrong inside is for the log: it may name
// servers and files.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // who asked has gone
		return
	}
	f := failure{Status: status(err), Reason: plainly(err.Error())}
	switch f.Status {
	case http.StatusInternalServerError:
		f.Reason = "something went wrong here; the log of the console says what"
		c.log.ErrorContext(r.Context(), "console: not answered", "path", r.URL.Path, "error", err)
	case http.StatusServiceUnavailable:
		f.Reason = "the database, the blob store or Temporal does not answer; try again in a while"
		c.log.WarnContext(r.Context(), "console: not answered", "path", r.URL.Path, "error", err)
	}
	c.show(w, r, f.Status, "failure", f)
}

// static serves the style and the script, which change with the program alone.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=600")
	http.ServeFileFS(w, r, static, path.Join("static", path.Base(r.URL.Path)))
}
