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
	"strings"
	"time"

	"gleaner/internal/config"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/metadata"
	"gleaner/internal/store"
)

// serviceClient asks outside APIs, through the proxy of the settings.
func serviceClient(cfg *config.Config) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if p := cfg.Text("proxy"); p != "" {
		u, err := url.Parse(p)
		if err != nil {
			return nil, errors.New("config: proxy is no address") // the parser would repeat it, with its password
		}
		t.Proxy = http.ProxyURL(u)
	}
	if file := cfg.Text("ca-file"); file != "" {
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
	return &http.Client{Transport: t, Timeout: time.Minute}, nil
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

func metadataConfig(cfg *config.Config, client *http.Client, gate fetch.Gate, log *slog.Logger) metadata.Config {
	mirror := cfg.Text("dblp-mirror-url")
	if mirror == "" && cfg.Text("dblp-url") != "" {
		mirror = "-" // another DBLP than the public one has no public mirror
	}
	return metadata.Config{DBLPURL: cfg.Text("dblp-url"), DBLPMirrorURL: mirror, DumpPath: cfg.Text("dblp-dump"), Contact: email(cfg.Text("contact")),
		CrossrefURL: cfg.Text("crossref-url"), OpenAlexURL: cfg.Text("openalex-url"), SemanticScholarURL: cfg.Text("semantic-scholar-url"),
		UnpaywallURL: cfg.Text("unpaywall-url"), ArXivURL: cfg.Text("arxiv-url"), ORCIDURL: cfg.Text("orcid-url"), ACLURL: cfg.Text("acl-url"),
		OpenAlexKey: cfg.Text("openalex-key"), SemanticScholarKey: cfg.Text("semantic-scholar-key"), HTTPClient: client, Gate: gate, Log: log,
		Delays: metadata.Delays{DBLP: cfg.Duration("dblp-delay")}, Backoff: cfg.Duration("retry-base") / 15, Rest: cfg.Duration("park-for") / 12}
}

// catalogues makes a client for each.
func catalogues(cfg *config.Config, client *http.Client, gate fetch.Gate, log *slog.Logger) (Catalogues, error) {
	mc := metadataConfig(cfg, client, gate, log)
	c := Catalogues{DBLP: metadata.NewDBLP(mc), Sources: map[string]metadata.Source{}, Completers: map[string]metadata.CopySource{}, Names: config.Fields(cfg.Text("sources"))}
	for _, name := range config.Fields(cfg.Text("copies")) {
		src, err := copySource(name, mc)
		if err != nil {
			return c, err
		}
		if src != nil {
			c.Copies = append(c.Copies, src)
		}
	}
	for _, src := range []metadata.Source{metadata.NewACL(mc), metadata.NewCrossref(mc)} {
		c.Sources[src.Name()] = src
	}
	if mc.OpenAlexKey != "" {
		c.Sources["openalex"] = metadata.NewOpenAlex(mc)
	}
	if e := cfg.Text("oai-endpoint"); e != "" {
		c.Sources["oai"] = named{metadata.NewOAI(mc, e), "oai"}
	}
	c.Completers["arxiv"] = metadata.NewArXiv(mc)
	c.Completers["semanticscholar"] = namedCopies{metadata.NewSemanticScholar(mc), "semanticscholar"}
	for _, name := range config.Fields(cfg.Text("directories")) {
		switch name {
		case "none":
		case "dblp":
			c.PeopleDBLP = true
		case "orcid":
			c.Directories = append(c.Directories, harvest.ORCIDPeople{ORCID: metadata.NewORCID(mc)})
		case "semanticscholar":
			c.Directories = append(c.Directories, harvest.SemanticScholarPeople{API: metadata.NewSemanticScholar(mc)})
		default:
			return c, fmt.Errorf("config: directories: none is called %q; want dblp, orcid, semanticscholar, or none", name)
		}
	}
	return c, nil
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
	client, err := serviceClient(cfg)
	if err != nil {
		return Catalogues{}, err
	}
	return catalogues(cfg, client, robotsFirst{metadata.NewLocalGate(), polite}, log)
}

func email(contact string) string {
	if strings.Contains(contact, "@") {
		return strings.TrimPrefix(contact, "mailto:")
	}
	return ""
}

func copySource(name string, mc metadata.Config) (metadata.CopySource, error) {
	switch name {
	case "none":
		return nil, nil
	case "links":
		return metadata.NewLinks(mc), nil
	case "arxiv":
		return metadata.NewArXiv(mc), nil
	case "unpaywall":
		return metadata.NewUnpaywall(mc), nil
	case "openalex":
		return metadata.NewOpenAlex(mc), nil
	case "semanticscholar":
		return metadata.NewSemanticScholar(mc), nil
	}
	return nil, fmt.Errorf("config: copies: no source is called %q; want links, arxiv, unpaywall, openalex, semanticscholar, or none", name)
}

// searchers are what finds pages by words: the web search that the settings name,
// with memory and budget, and behind it the local index, which answers where that
// knows nothing or is not to be asked. web is nil for none.
func searchers(cfg *config.Config, db *store.DB, index *store.PageIndex, client *http.Client, gate fetch.Gate) (web *homepage.CachedSearcher, all homepage.Searcher, err error) {
	s, err := webSearch(cfg, client, atLeast{gate, cfg.Duration("search-delay")})
	if err != nil {
		return nil, nil, err
	}
	switch {
	case s == nil && index == nil:
		return nil, nil, nil
	case s == nil:
		return nil, homepage.NewLocal(index), nil
	}
	web = homepage.Cached(s, db.Searches(), homepage.Budget{Limit: cfg.Number("search-budget")})
	if index == nil {
		return web, web, nil
	}
	return web, homepage.FirstAnswer(web, homepage.NewLocal(index)), nil
}

// atLeast is a gate that keeps some distance, whatever is asked of it.
type atLeast struct {
	fetch.Gate
	delay time.Duration
}

// Turn implements fetch.Gate.
func (g atLeast) Turn(ctx context.Context, host string, delay time.Duration) (func(fetch.Visit), error) {
	return g.Gate.Turn(ctx, host, max(delay, g.delay))
}

func webSearch(cfg *config.Config, client *http.Client, gate fetch.Gate) (homepage.Searcher, error) {
	need := func(key string) error {
		if cfg.Text(key) == "" {
			return fmt.Errorf("config: search is %s, so %s is needed", cfg.Text("search"), key)
		}
		return nil
	}
	switch cfg.Text("search") {
	case "", "none":
		return nil, nil
	case "searxng":
		return homepage.NewSearXNG(cfg.Text("searxng-url"), client, gate), need("searxng-url")
	case "brave":
		return homepage.NewBrave("", cfg.Text("brave-key"), client, gate), need("brave-key")
	case "serper":
		return homepage.NewSerper("", cfg.Text("serper-key"), client, gate), need("serper-key")
	}
	return nil, fmt.Errorf("config: search: no provider is called %q; want searxng, brave, serper or none", cfg.Text("search"))
}
