package metadata

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/web/weburl"
)

// Config holds what all sources share. The zero value is usable: it asks the
// public services at the pace they ask for, without keys.
type Config struct {
	// Base addresses, without a closing slash; "" is the public service.
	DBLPURL            string
	DBLPMirrorURL      string // "-" for none; of another DBLPURL than the public one there is none
	CrossrefURL        string
	OpenAlexURL        string
	SemanticScholarURL string
	UnpaywallURL       string
	ArXivURL           string
	ORCIDURL           string
	ACLURL             string // the folder that holds the Anthology's XML files

	OpenAlexKey        string
	SemanticScholarKey string // optional: a pace of one's own

	// Contact is an e-mail address that operators can write to. It is sent
	// where a service asks for it; Unpaywall refuses to answer without one.
	Contact string

	// DumpPath is a local copy of dblp.xml or dblp.xml.gz, asked last; "" for
	// none. dblp.dtd beside it gives the entities.
	DumpPath string

	Delays Delays // least time between two requests, by service

	Retries int           // repeats of one request after 429, 5xx or no answer; 0 is 4, negative none
	Backoff time.Duration // before the first repeat, doubled each time; 0 is 2 s
	Rest    time.Duration // of a way to DBLP that failed twice in a row; 0 is 5 min

	HTTPClient *http.Client  // nil: http.DefaultClient
	Gate       fetch.Gate    // nil: turns are counted within this process alone
	Memory     *fetch.Memory // what large answers wait for; nil: nothing bounds them
	Log        *slog.Logger  // nil: silent

	// Begin is called before an answer is read, with a name of what was asked for that
	// holds no key, and end after. An error refuses the answer [nil].
	Begin func(ctx context.Context, what string) (end func(), err error)
}

// Delays are the least times from one request's end to the next one's begin, by
// service. 0 is the default named beside each.
type Delays struct {
	DBLP            time.Duration // 1 s, for dblp.org and for its mirror
	Crossref        time.Duration // 200 ms (5/s), 100 ms (10/s) with a contact; raised by x-rate-limit headers
	OpenAlex        time.Duration // 200 ms
	SemanticScholar time.Duration // 1 s
	Unpaywall       time.Duration // 900 ms, so that a whole day stays below 100,000
	ArXiv           time.Duration // 3 s
	ORCID           time.Duration // 100 ms
	ACL             time.Duration // 1 s
	OAI             time.Duration // 1 s
}

// Public services, used where Config leaves an address empty.
const (
	defaultDBLP            = "https://dblp.org"
	defaultDBLPMirror      = "https://dblp.uni-trier.de"
	defaultCrossref        = "https://api.crossref.org"
	defaultOpenAlex        = "https://api.openalex.org"
	defaultSemanticScholar = "https://api.semanticscholar.org"
	defaultUnpaywall       = "https://api.unpaywall.org/v2"
	defaultArXiv           = "https://export.arxiv.org"
	defaultORCID           = "https://pub.orcid.org/v3.0"
	defaultACL             = "https://raw.githubusercontent.com/acl-org/acl-anthology/master/data/xml"
	aclSite                = "https://aclanthology.org" // serves the documents
)

// Bounds of requests.
const (
	longestWait = 2 * time.Minute // for a Retry-After
	requestTime = time.Minute     // its body included
)

// withDefaults fills what was left empty. It is called once by each constructor,
// so that the rest of the package never asks twice.
func (c Config) withDefaults() Config {
	if weburl.Domain(weburl.Host(cmp.Or(c.DBLPURL, defaultDBLP))) != "dblp.org" {
		c.DBLPMirrorURL = cmp.Or(c.DBLPMirrorURL, "-")
	}
	for _, a := range []struct {
		addr     *string
		standard string
	}{
		{&c.DBLPURL, defaultDBLP}, {&c.DBLPMirrorURL, defaultDBLPMirror}, {&c.CrossrefURL, defaultCrossref},
		{&c.OpenAlexURL, defaultOpenAlex}, {&c.SemanticScholarURL, defaultSemanticScholar}, {&c.UnpaywallURL, defaultUnpaywall},
		{&c.ArXivURL, defaultArXiv}, {&c.ORCIDURL, defaultORCID}, {&c.ACLURL, defaultACL},
	} {
		*a.addr = cmp.Or(*a.addr, a.standard)
	}
	c.Delays = c.Delays.withDefaults(c.Contact != "")
	c.Retries = cmp.Or(c.Retries, 4)
	c.Backoff = cmp.Or(c.Backoff, 2*time.Second)
	c.Rest = cmp.Or(c.Rest, 5*time.Minute)
	c.HTTPClient = cmp.Or(c.HTTPClient, http.DefaultClient)
	if c.Gate == nil {
		c.Gate = NewLocalGate()
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Begin == nil {
		c.Begin = func(context.Context, string) (func(), error) { return func() {}, nil }
	}
	return c
}

// withDefaults fills in the paces that the services ask for.
func (d Delays) withDefaults(polite bool) Delays {
	crossref := 200 * time.Millisecond
	if polite {
		crossref = 100 * time.Millisecond
	}
	return Delays{
		DBLP:            cmp.Or(d.DBLP, time.Second),
		Crossref:        cmp.Or(d.Crossref, crossref),
		OpenAlex:        cmp.Or(d.OpenAlex, 200*time.Millisecond),
		SemanticScholar: cmp.Or(d.SemanticScholar, time.Second),
		Unpaywall:       cmp.Or(d.Unpaywall, 900*time.Millisecond),
		ArXiv:           cmp.Or(d.ArXiv, 3*time.Second),
		ORCID:           cmp.Or(d.ORCID, 100*time.Millisecond),
		ACL:             cmp.Or(d.ACL, time.Second),
		OAI:             cmp.Or(d.OAI, time.Second),
	}
}
