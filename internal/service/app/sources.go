package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
)

// ServiceClient asks outside services, through the proxy and with the authorities of the settings.
func ServiceClient(cfg *config.Config) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	switch p := string(cfg.Web.Proxy); p {
	case "":
	case "none":
		t.Proxy = nil
	default:
		u, err := url.Parse(p)
		if err != nil {
			return nil, errors.New("config: proxy is no address") // the parser would repeat it, with its password
		}
		t.Proxy = http.ProxyURL(u)
	}
	if file := cfg.Web.CAFile; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("config: ca-file: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("config: ca-file: no certificate in %s", file)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &http.Client{Transport: identified{t, fetch.UserAgent(cfg.Web.Contact)}, Timeout: time.Minute}, nil
}

// identified sends the crawler's name and contact with each request.
type identified struct {
	*http.Transport
	agent string
}

func (i identified) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", i.agent)
	return i.Transport.RoundTrip(r)
}

// Catalogues are the outside services that the settings name.
type Catalogues struct {
	DBLP        *metadata.DBLP
	Copies      []metadata.CopySource
	Names       []string // of sources, in the order of trust
	Sources     map[string]metadata.Source
	Completers  map[string]metadata.CopySource
	Directories []harvest.Directory // beside DBLP
	PeopleDBLP  bool
}

func metadataConfig(cfg *config.Config, client *http.Client, gate fetch.Gate, memory *fetch.Memory, log *slog.Logger) metadata.Config {
	known, at := cfg.Catalogues, cfg.Policy.Services
	mirror := known.DBLPMirror
	if mirror == "" && known.DBLP != "" {
		mirror = "-" // another DBLP than the public one has no public mirror
	}
	return metadata.Config{DBLPURL: known.DBLP, DBLPMirrorURL: mirror, DumpPath: known.DBLPDump, Contact: fetch.Email(cfg.Web.Contact),
		CrossrefURL: at.Crossref, OpenAlexURL: at.OpenAlex, SemanticScholarURL: at.SemanticScholar,
		UnpaywallURL: at.Unpaywall, ArXivURL: at.ArXiv, ORCIDURL: at.ORCID, ACLURL: at.ACL,
		OpenAlexKey: string(known.OpenAlexKey), SemanticScholarKey: string(known.SemanticScholarKey), HTTPClient: client, Gate: gate, Memory: memory, Log: log,
		Delays: metadata.Delays{DBLP: known.DBLPDelay}, Backoff: cfg.Policy.Crawl.RetryBase / 15, Rest: cfg.Policy.Pace.ParkFor / 12}
}

// begins is harvest.Answers.Begin, or nil.
type begins = func(ctx context.Context, what string) (end func(), err error)

// catalogues makes a client for each.
func catalogues(
	cfg *config.Config, client *http.Client, gate fetch.Gate, memory *fetch.Memory, log *slog.Logger, begin begins,
) Catalogues {
	mc := metadataConfig(cfg, client, gate, memory, log)
	mc.Begin = begin
	c := Catalogues{DBLP: metadata.NewDBLP(mc), Sources: map[string]metadata.Source{}, Completers: map[string]metadata.CopySource{},
		Names: each.Text(cfg.Catalogues.Sources)}
	for _, name := range cfg.Catalogues.Copies {
		if src := copySource(name, mc); src != nil {
			c.Copies = append(c.Copies, src)
		}
	}
	for _, src := range []metadata.Source{metadata.NewACL(mc), metadata.NewCrossref(mc)} {
		c.Sources[src.Name()] = src
	}
	if mc.OpenAlexKey != "" {
		c.Sources["openalex"] = metadata.NewOpenAlex(mc)
	}
	if e := cfg.Catalogues.OAI; e != "" {
		c.Sources["oai"] = named{metadata.NewOAI(mc, e), "oai"}
	}
	c.Completers["arxiv"] = metadata.NewArXiv(mc)
	c.Completers["semanticscholar"] = namedCopies{metadata.NewSemanticScholar(mc), "semanticscholar"}
	for _, name := range cfg.Catalogues.Directories {
		switch name {
		case "dblp":
			c.PeopleDBLP = true
		case "orcid":
			c.Directories = append(c.Directories, harvest.ORCIDPeople{ORCID: metadata.NewORCID(mc)})
		case "semanticscholar":
			c.Directories = append(c.Directories, harvest.SemanticScholarPeople{API: metadata.NewSemanticScholar(mc)})
		}
	}
	return c
}

// named is a source under the name that the settings give it.
type named struct {
	metadata.Source
	name string
}

func (n named) Name() string { return n.name }

type namedCopies struct {
	metadata.BatchCopySource
	name string
}

func (n namedCopies) Name() string { return n.name }

// OpenCatalogues makes the catalogues for a command that has no database: paces
// hold within this process alone.
func OpenCatalogues(cfg *config.Config, log *slog.Logger) (Catalogues, error) {
	polite, err := Client(cfg)
	if err != nil {
		return Catalogues{}, err
	}
	client, err := ServiceClient(cfg)
	if err != nil {
		return Catalogues{}, err
	}
	return catalogues(cfg, client, robotsFirst{metadata.NewLocalGate(), polite, nil}, bodies(), log, nil), nil
}

// copySource is the catalogue of a name; nil for none.
func copySource(name config.CopySource, mc metadata.Config) metadata.CopySource {
	switch name {
	case "links":
		return metadata.NewLinks(mc)
	case "arxiv":
		return metadata.NewArXiv(mc)
	case "unpaywall":
		return metadata.NewUnpaywall(mc)
	case "openalex":
		return metadata.NewOpenAlex(mc)
	case "semanticscholar":
		return metadata.NewSemanticScholar(mc)
	}
	return nil
}

// searchers are what finds pages by words: the web search that the settings name, its
// engines each with memory and budget, and behind it the local index, which answers where
// that knows nothing or is not to be asked.
func searchers(cfg *config.Config, db store.PageRecords, index *store.PageIndex, client *http.Client, gate func(config.Provider) fetch.Gate, memory *fetch.Memory, begin begins) (web homepage.Engines, all homepage.Searcher, err error) {
	for i, name := range cfg.Search.Providers {
		if slices.Contains(cfg.Search.Providers[:i], name) {
			continue
		}
		s, err := webSearch(cfg, name, homepage.Service{Client: client, Gate: gate(name), Memory: memory, Delay: cfg.Search.Delay, Begin: begin})
		if err != nil {
			return nil, nil, err
		}
		if s != nil {
			web = append(web, homepage.Cached(s, db.Searches(), homepage.Budget{Limit: cfg.Search.Budget}))
		}
	}
	switch all = web.Searcher(); {
	case index == nil:
		return web, all, nil
	case all == nil:
		return nil, homepage.NewLocal(index), nil
	}
	return web, homepage.FirstAnswer(all, homepage.NewLocal(index)), nil
}

// webSearch is one search engine of the settings; nil for none.
func webSearch(cfg *config.Config, name config.Provider, service homepage.Service) (homepage.Searcher, error) {
	need := func(key, value string) error {
		if value == "" {
			return fmt.Errorf("config: search is %s, so %s is needed", name, key)
		}
		return nil
	}
	switch s := cfg.Search; name {
	case "searxng":
		return homepage.NewSearXNG(s.SearXNG, service), need("searxng-url", s.SearXNG)
	case "brave":
		return homepage.NewBrave("", string(s.BraveKey), service), need("brave-key", string(s.BraveKey))
	case "serper":
		return homepage.NewSerper("", string(s.SerperKey), service), need("serper-key", string(s.SerperKey))
	}
	return nil, nil
}

// citations is the catalogue that is asked how often papers are cited.
func (a *App) citations(client *http.Client, gate fetch.Gate) stats.Citations {
	return metadata.NewSemanticScholar(metadata.Config{Contact: fetch.Email(a.Config.Web.Contact), SemanticScholarKey: string(a.Config.Catalogues.SemanticScholarKey),
		HTTPClient: client, Gate: gate, Memory: a.memory, Log: a.Log, Begin: a.answers.Begin})
}
