package metadata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/gleaner"
)

// crossrefRows is the most works that Crossref sends at once.
const crossrefRows = 1000

// Crossref lists what publishers registered under a venue's ISSN, and the
// openly licensed full texts that they name.
type Crossref struct {
	url     string
	contact string
	svc     *service
}

// NewCrossref returns a client; with a contact it is served from the polite pool.
func NewCrossref(cfg Config) *Crossref {
	cfg = cfg.withDefaults()
	c := &Crossref{url: cfg.CrossrefURL, contact: cfg.Contact, svc: newService(cfg, "Crossref", cfg.Delays.Crossref)}
	c.svc.slower = crossrefPace
	c.svc.problem = crossrefProblem
	return c
}

func (c *Crossref) Name() string { return "crossref" }

// crossrefPace reads "x-rate-limit-limit: 5" and "x-rate-limit-interval: 1s",
// which change with Crossref's load.
func crossrefPace(h http.Header) time.Duration {
	n, err := strconv.ParseFloat(h.Get("x-rate-limit-limit"), 64)
	if err != nil || n <= 0 {
		return 0
	}
	span, err := time.ParseDuration(strings.TrimSpace(h.Get("x-rate-limit-interval")))
	if err != nil {
		return 0
	}
	return time.Duration(float64(span) / n)
}

// errCursor says that a list has to be begun anew: Crossref forgets a cursor
// after five minutes.
var errCursor = errors.New("the cursor has expired")

// crossrefProblem reads {"status":"failed","message-type":"validation-failure",
// "message":[{"type":"cursor-invalid", "message":…}]}.
func crossrefProblem(status int, body []byte) error {
	var e struct {
		Message []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"message"`
	}
	if decodeJSON(body, &e) != nil || len(e.Message) == 0 {
		return nil
	}
	for _, m := range e.Message {
		if strings.Contains(m.Type, "cursor") {
			return errCursor
		}
	}
	return ErrRefused{Service: "Crossref", Status: status, Reason: cut(e.Message[0].Type + ": " + e.Message[0].Message)}
}

type crossrefAnswer struct {
	Message struct {
		Total  int            `json:"total-results"`
		Cursor string         `json:"next-cursor"`
		Items  []crossrefWork `json:"items"`
	} `json:"message"`
}

type crossrefWork struct {
	DOI      string   `json:"DOI"`
	Type     string   `json:"type"`
	Title    []string `json:"title"`
	Subtitle []string `json:"subtitle"`
	Page     string   `json:"page"`
	Author   []struct {
		Given  string `json:"given"`
		Family string `json:"family"`
		Suffix string `json:"suffix"`
		Name   string `json:"name"` // a group
		ORCID  string `json:"ORCID"`
	} `json:"author"`
	Issued crossrefDate `json:"issued"`
	Print  crossrefDate `json:"published-print"`
	Link   []struct {
		URL     string `json:"URL"`
		Type    string `json:"content-type"`
		Version string `json:"content-version"`
		For     string `json:"intended-application"`
	} `json:"link"`
	License []struct {
		URL     string `json:"URL"`
		Version string `json:"content-version"`
	} `json:"license"`
}

type crossrefDate struct {
	Parts [][]*int `json:"date-parts"` // [[2003, 6, 12]]; [[null]] where unknown
}

func (d crossrefDate) year() int {
	if len(d.Parts) == 0 || len(d.Parts[0]) == 0 || d.Parts[0][0] == nil {
		return 0
	}
	return *d.Parts[0][0]
}

// Papers lists the works registered under the venue's ISSNs (IDs["issn"]). A
// work counts for its year of print where it has one: that is the volume's.
func (c *Crossref) Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error) {
	issns := splitIDs(v.IDs["issn"])
	if len(issns) == 0 {
		return nil, ErrNotCovered{c.Name(), v.Key, "issn"}
	}
	filter := []string{"issn:" + strings.Join(issns, ",issn:")}
	if years != (gleaner.Years{}) { // online comes before print, at times by a year
		filter = append(filter, fmt.Sprintf("from-pub-date:%d", years.From-1), fmt.Sprintf("until-pub-date:%d", years.To+1))
	}
	works, err := c.all(ctx, url.Values{"filter": {strings.Join(filter, ",")}})
	if err != nil {
		return nil, err
	}
	var out []gleaner.Paper
	for _, w := range works {
		if p, ok := w.paper(v.Key); ok && years.Contains(p.Year) {
			out = append(out, p)
		}
	}
	return out, nil
}

// all lists works, once more where the cursor expires on the way.
func (c *Crossref) all(ctx context.Context, params url.Values) ([]crossrefWork, error) {
	params.Set("rows", strconv.Itoa(crossrefRows))
	params.Set("select", "DOI,title,subtitle,author,issued,published-print,page,type,link,license")
	if c.contact != "" {
		params.Set("mailto", c.contact)
	}
	list := func() ([]crossrefWork, error) {
		return listed("Crossref", c.url, func(w crossrefWork) string { return w.DOI }, func(cursor string) ([]crossrefWork, int, string, error) {
			params.Set("cursor", cursor)
			var ans crossrefAnswer
			err := c.svc.json(ctx, query(c.url, "/works", params), &ans)
			return ans.Message.Items, ans.Message.Total, ans.Message.Cursor, err
		})
	}
	works, err := list()
	if errors.Is(err, errCursor) {
		works, err = list()
	}
	return works, err
}

func (w crossrefWork) paper(key string) (gleaner.Paper, bool) {
	switch w.Type {
	case "journal-article", "proceedings-article", "book-chapter", "posted-content":
	default:
		return gleaner.Paper{}, false
	}
	if len(w.Title) == 0 || w.DOI == "" {
		return gleaner.Paper{}, false
	}
	title := w.Title[0]
	if len(w.Subtitle) > 0 && w.Subtitle[0] != "" && !strings.Contains(title, w.Subtitle[0]) {
		title += ": " + w.Subtitle[0]
	}
	title = cleanTitle(title)
	if title == "" || isFrontMatter(title) {
		return gleaner.Paper{}, false
	}
	doi := gleaner.ParseDOI(w.DOI)
	p := gleaner.Paper{Key: "doi:" + doi, Venue: key, Title: title, DOI: doi, ArXiv: gleaner.LabelledArXiv(doi), Pages: w.Page,
		Year: w.Print.year(), Links: []string{"https://doi.org/" + doi}}
	p.Year = cmp.Or(p.Year, w.Issued.year())
	for _, a := range w.Author {
		name := cleanName(strings.Join(strings.Fields(a.Given+" "+a.Family+" "+a.Suffix), " "))
		name = cmp.Or(name, cleanName(a.Name))
		if name == "" {
			continue
		}
		author := gleaner.Author{Name: name}
		if id := gleaner.ORCID(a.ORCID); id != "" {
			author.PID = "orcid:" + id
		}
		p.Authors = append(p.Authors, author)
	}
	return p, true
}

// Copies names full texts that the publisher licensed openly. Links made for
// similarity checking are for subscribers of that service and not taken.
func (c *Crossref) Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error) {
	if p.DOI == "" {
		return nil, nil
	}
	params := url.Values{}
	if c.contact != "" {
		params.Set("mailto", c.contact)
	}
	var ans struct {
		Message crossrefWork `json:"message"`
	}
	err := c.svc.json(ctx, query(c.url, "/works/"+escapeDOI(p.DOI), params), &ans)
	if is[ErrNotFound](err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ans.Message.copies(), nil
}

func (w crossrefWork) copies() []Copy {
	license := ""
	for _, l := range w.License {
		if short := shortLicense(l.URL); short != "" {
			license = short
		}
	}
	if license == "" {
		return nil
	}
	var out []Copy
	for _, l := range w.Link {
		if l.For == "similarity-checking" || l.URL == "" {
			continue
		}
		if l.Type != "application/pdf" && (l.Type != "unspecified" || !looksDocument(l.URL)) {
			continue
		}
		version := UnknownVersion
		switch l.Version {
		case "vor":
			version = Published
		case "am":
			version = Accepted
		}
		out = append(out, Copy{URL: l.URL, Version: version, License: license, Host: AtPublisher, Source: "crossref"})
	}
	return out
}

// shortLicense names a Creative Commons licence by its address: "cc-by". "" for
// any other licence.
func shortLicense(addr string) string {
	_, path, ok := strings.Cut(strings.ToLower(addr), "creativecommons.org/")
	if !ok {
		return ""
	}
	parts := strings.Split(path, "/")
	switch {
	case len(parts) > 1 && parts[0] == "licenses":
		return "cc-" + parts[1]
	case len(parts) > 1 && parts[0] == "publicdomain":
		return "pd"
	}
	return ""
}

// splitIDs reads several identifiers of one kind.
func splitIDs(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
}

// escapeDOI makes a DOI fit for a path; its slash stays one.
func escapeDOI(doi string) string {
	return strings.ReplaceAll(url.PathEscape(doi), "%2F", "/")
}
