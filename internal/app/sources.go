package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"gleaner/internal/config"
	"gleaner/internal/fetch"
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
			return nil, fmt.Errorf("config: proxy: %w", err)
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

// sources are the catalogues that the settings name.
func sources(cfg *config.Config, client *http.Client, gate fetch.Gate, log *slog.Logger) (*metadata.DBLP, []metadata.CopySource, error) {
	mirror := cfg.Text("dblp-mirror-url")
	if mirror == "" && cfg.Text("dblp-url") != "" {
		mirror = "-" // another DBLP than the public one has no public mirror
	}
	mc := metadata.Config{DBLPURL: cfg.Text("dblp-url"), DBLPMirrorURL: mirror, DumpPath: cfg.Text("dblp-dump"), Contact: email(cfg.Text("contact")),
		OpenAlexKey: cfg.Text("openalex-key"), SemanticScholarKey: cfg.Text("semantic-scholar-key"), HTTPClient: client, Gate: gate, Log: log,
		Delays: metadata.Delays{DBLP: cfg.Duration("dblp-delay")}}
	var copies []metadata.CopySource
	for _, name := range strings.FieldsFunc(cfg.Text("copies"), func(r rune) bool { return r == ',' || r == ' ' }) {
		src, err := copySource(name, mc)
		if err != nil {
			return nil, nil, err
		}
		if src != nil {
			copies = append(copies, src)
		}
	}
	return metadata.NewDBLP(mc), copies, nil
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

// searcher is the web search that the settings name, with memory and budget; nil
// for none.
func searcher(cfg *config.Config, db *store.DB, client *http.Client, gate fetch.Gate) (homepage.Searcher, error) {
	var s homepage.Searcher
	need := func(key string) error {
		if cfg.Text(key) == "" {
			return fmt.Errorf("config: search is %s, so %s is needed", cfg.Text("search"), key)
		}
		return nil
	}
	var err error
	switch cfg.Text("search") {
	case "", "none":
		return nil, nil
	case "searxng":
		err = need("searxng-url")
		s = homepage.NewSearXNG(cfg.Text("searxng-url"), client, gate)
	case "brave":
		err = need("brave-key")
		s = homepage.NewBrave("", cfg.Text("brave-key"), client, gate)
	case "serper":
		err = need("serper-key")
		s = homepage.NewSerper("", cfg.Text("serper-key"), client, gate)
	default:
		err = fmt.Errorf("config: search: no provider is called %q; want searxng, brave, serper or none", cfg.Text("search"))
	}
	if err != nil {
		return nil, err
	}
	return homepage.Cached(s, db.Searches(), homepage.Budget{Limit: cfg.Number("search-budget")}), nil
}
