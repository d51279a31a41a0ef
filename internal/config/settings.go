package config

import "slices"

// Setting is one thing that an operator can set.
type Setting struct {
	Key     string // in the file, and the flag's name
	Env     string
	Default string
	Kind    Kind
	Secret  bool // from the environment or a file alone, and never shown
	Choices []string
	Help    string
}

// FileKey and FileEnv name a secret by the file that holds it, as a container
// platform gives secrets to a program. They may be a flag: a path gives nothing
// away.
func (s Setting) FileKey() string { return s.Key + "-file" }

// FileEnv is the variable for FileKey.
func (s Setting) FileEnv() string { return s.Env + "_FILE" }

// Find returns the setting of a name.
func Find(key string) (Setting, bool) {
	i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return Settings[i], true
}

// Kind is the form of a setting's value.
type Kind int

// The kinds of settings.
const (
	Text     Kind = iota
	Duration      // 1s, 500ms, 2h, 30d, 2w
	Number
	Switch // true or false
	Choice // one of Choices
	List   // any of Choices, comma-separated
)

// Settings is the table of all settings, in the order in which they are shown.
var Settings = []Setting{
	{Key: "data-dir", Env: "GLEANER_DATA_DIR", Default: "", Help: "folder of `starter dev`: database, blobs, logs (default: gleaner in the user's data folder)"},
	{Key: "database-url", Env: "GLEANER_DATABASE_URL", Secret: true, Help: "Postgres; without it the running `starter dev` of the data folder is used"},
	{Key: "temporal-address", Env: "TEMPORAL_ADDRESS", Help: "host:port of Temporal; without it as above"},
	{Key: "temporal-namespace", Env: "TEMPORAL_NAMESPACE", Default: "default", Help: "Temporal namespace"},
	{Key: "repository-url", Env: "GLEANER_REPOSITORY_URL", Help: "blob store for documents: file:///path or s3://bucket (default: blobs in the data folder)"},

	{Key: "contact", Env: "GLEANER_CONTACT", Help: "e-mail or URL where web masters reach you; required before anything but loopback or a proxy is asked"},
	{Key: "delay", Env: "GLEANER_DELAY", Default: "1s", Kind: Duration, Help: "least time between two requests to one host"},
	{Key: "min-delay", Env: "GLEANER_MIN_DELAY", Default: "500ms", Kind: Duration, Help: "no host is asked faster, whatever a harvest's --delay or delay says; lower it only for servers of your own, say behind a proxy"},
	{Key: "delay-factor", Env: "GLEANER_DELAY_FACTOR", Default: "5", Kind: Number, Help: "wait so many times the last answer's time, if that is longer"},
	{Key: "max-delay", Env: "GLEANER_MAX_DELAY", Default: "30s", Kind: Duration, Help: "bound of the adaptive delay"},
	{Key: "max-crawl-delay", Env: "GLEANER_MAX_CRAWL_DELAY", Default: "2m", Kind: Duration, Help: "longest Crawl-delay of a robots.txt that is obeyed in full"},
	{Key: "max-retry-after", Env: "GLEANER_MAX_RETRY_AFTER", Default: "6h", Kind: Duration, Help: "longest Retry-After of an answer that is obeyed in full"},
	{Key: "park-after", Env: "GLEANER_PARK_AFTER", Default: "5", Kind: Number, Help: "park a host after so many failures in a row"},
	{Key: "park-for", Env: "GLEANER_PARK_FOR", Default: "1h", Kind: Duration, Help: "how long a parked host is left alone; a catalogue's way that fails twice, a twelfth of it"},
	{Key: "pace-by", Env: "GLEANER_PACE_BY", Default: "host", Kind: List, Choices: []string{"host", "domain", "address"}, Help: "what shares one pace: host; domain or address (or domain,address) beside it"},
	{Key: "ports", Env: "GLEANER_PORTS", Help: "ports that may be asked beside 80, 443, 8080 and 8443: 8000,8081"},
	{Key: "allow-addresses", Env: "GLEANER_ALLOW_ADDRESSES", Help: "networks that may be asked though private, as CIDR: 10.1.0.0/16,127.0.0.1/32"},
	{Key: "max-page-bytes", Env: "GLEANER_MAX_PAGE_BYTES", Default: "10485760", Kind: Number, Help: "largest page, in bytes"},
	{Key: "max-document-bytes", Env: "GLEANER_MAX_DOCUMENT_BYTES", Default: "104857600", Kind: Number, Help: "largest document, in bytes"},
	{Key: "proxy", Env: "GLEANER_PROXY", Secret: true, Help: "HTTP proxy for everything that is fetched (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)"},
	{Key: "ca-file", Env: "GLEANER_CA_FILE", Help: "further certificate authorities, as PEM (SSL_CERT_FILE works too)"},

	{Key: "dblp-url", Env: "GLEANER_DBLP_URL", Help: "DBLP's base address (default: https://dblp.org)"},
	{Key: "dblp-mirror-url", Env: "GLEANER_DBLP_MIRROR_URL", Help: "its mirror, - for none (default: https://dblp.uni-trier.de, or none where dblp-url is set)"},
	{Key: "dblp-delay", Env: "GLEANER_DBLP_DELAY", Default: "1s", Kind: Duration, Help: "least time between two requests to DBLP"},
	{Key: "dblp-dump", Env: "GLEANER_DBLP_DUMP", Help: "local dblp.xml or dblp.xml.gz, asked when DBLP does not answer"},
	{Key: "sources", Env: "GLEANER_SOURCES", Default: "dblp", Kind: List, Choices: []string{"dblp", "acl", "crossref", "openalex", "oai", "arxiv", "semanticscholar"}, Help: "what lists a venue's papers: dblp, acl, crossref, openalex, oai; arxiv and semanticscholar add identifiers; comma-separated, dblp decides where it is named"},
	{Key: "directories", Env: "GLEANER_DIRECTORIES", Default: "dblp", Kind: List, Choices: []string{"dblp", "orcid", "semanticscholar", "none"}, Help: "what names people's homepages: dblp, orcid, semanticscholar; comma-separated, or none"},
	{Key: "oai-endpoint", Env: "GLEANER_OAI_ENDPOINT", Help: "base address of an OAI-PMH repository, for sources"},
	{Key: "crossref-url", Env: "GLEANER_CROSSREF_URL", Help: "Crossref's base address (default: the public one; so are those below)"},
	{Key: "openalex-url", Env: "GLEANER_OPENALEX_URL", Help: "OpenAlex's base address"},
	{Key: "semantic-scholar-url", Env: "GLEANER_SEMANTIC_SCHOLAR_URL", Help: "Semantic Scholar's base address"},
	{Key: "unpaywall-url", Env: "GLEANER_UNPAYWALL_URL", Help: "Unpaywall's base address"},
	{Key: "arxiv-url", Env: "GLEANER_ARXIV_URL", Help: "arXiv's base address"},
	{Key: "orcid-url", Env: "GLEANER_ORCID_URL", Help: "ORCID's base address"},
	{Key: "acl-url", Env: "GLEANER_ACL_URL", Help: "folder of the ACL Anthology's XML files"},
	{Key: "copies", Env: "GLEANER_COPIES", Default: "links", Kind: List, Choices: []string{"links", "arxiv", "unpaywall", "openalex", "semanticscholar", "none"}, Help: "where to look for open copies: links, arxiv, unpaywall, openalex, semanticscholar; comma-separated, or none"},
	{Key: "openalex-key", Env: "GLEANER_OPENALEX_KEY", Secret: true, Help: "OpenAlex API key"},
	{Key: "semantic-scholar-key", Env: "GLEANER_SEMANTIC_SCHOLAR_KEY", Secret: true, Help: "Semantic Scholar API key"},

	{Key: "search", Env: "GLEANER_SEARCH", Default: "none", Kind: Choice, Choices: []string{"searxng", "brave", "serper", "none"}, Help: "web search for homepages: searxng, brave, serper or none"},
	{Key: "searxng-url", Env: "GLEANER_SEARXNG_URL", Help: "base address of your SearXNG"},
	{Key: "search-delay", Env: "GLEANER_SEARCH_DELAY", Default: "0s", Kind: Duration, Help: "least time between two searches"},
	{Key: "search-budget", Env: "GLEANER_SEARCH_BUDGET", Default: "0", Kind: Number, Help: "searches a month; 0 is no limit"},
	{Key: "brave-key", Env: "GLEANER_BRAVE_KEY", Secret: true, Help: "Brave search API key"},
	{Key: "serper-key", Env: "GLEANER_SERPER_KEY", Secret: true, Help: "Serper API key"},

	{Key: "local-index", Env: "GLEANER_LOCAL_INDEX", Default: "true", Kind: Switch, Help: "index fetched pages, and search there where no web search answers"},
	{Key: "local-index-pages", Env: "GLEANER_LOCAL_INDEX_PAGES", Default: "200000", Kind: Number, Help: "pages that the local index keeps; 0 is no limit"},
	{Key: "homepage-model", Env: "GLEANER_HOMEPAGE_MODEL", Help: "weights of `starter train homepage` (default: those that come with the program; so are those below)"},
	{Key: "filter-model", Env: "GLEANER_FILTER_MODEL", Help: "weights of `starter train filter`"},
	{Key: "link-lists", Env: "GLEANER_LINK_LISTS", Help: "word lists of `starter train links`, or of your own (YAML)"},
	{Key: "link-prior", Env: "GLEANER_LINK_PRIOR", Help: "weights of `starter train links --prior`"},

	{Key: "strategy", Env: "GLEANER_STRATEGY", Default: "gleaner", Kind: Choice, Choices: []string{"gleaner", "zhuang", "bfs"}, Help: "order of a crawl: gleaner, zhuang or bfs"},
	{Key: "slice-pages", Env: "GLEANER_SLICE_PAGES", Default: "500", Kind: Number, Help: "requests of one slice of a crawl"},
	{Key: "slice-time", Env: "GLEANER_SLICE_TIME", Default: "5m", Kind: Duration, Help: "time of one slice of a crawl"},
	{Key: "max-pages", Env: "GLEANER_MAX_PAGES", Default: "20000", Kind: Number, Help: "requests of one crawl of one site"},
	{Key: "max-site-bytes", Env: "GLEANER_MAX_SITE_BYTES", Default: "20000000000", Kind: Number, Help: "bytes that one crawl of one site may bring, unpacked; 0 is no limit"},
	{Key: "max-harvest-bytes", Env: "GLEANER_MAX_HARVEST_BYTES", Default: "500000000000", Kind: Number, Help: "bytes that the crawls of one harvest may bring together; 0 is no limit"},
	{Key: "max-depth", Env: "GLEANER_MAX_DEPTH", Default: "15", Kind: Number, Help: "links from the nearest homepage"},
	{Key: "dir-pages", Env: "GLEANER_DIR_PAGES", Default: "2000", Kind: Number, Help: "pages of one directory of a site; documents are not counted"},
	{Key: "max-tries", Env: "GLEANER_MAX_TRIES", Default: "3", Kind: Number, Help: "tries of a URL that fails for now"},
	{Key: "retry-base", Env: "GLEANER_RETRY_BASE", Default: "30s", Kind: Duration, Help: "wait before a URL's second try; grows fourfold. A host rests a third of it after a failure, twice as long after each further one, but never less than 10s (less only where min-delay is below its default)"},
	{Key: "leads", Env: "GLEANER_LEADS", Default: "wanted", Kind: Choice, Choices: []string{"wanted", "all", "none"}, Help: "documents linked on other hosts: wanted, all or none"},
	{Key: "filter", Env: "GLEANER_FILTER", Default: "balanced", Kind: Choice, Choices: []string{"conservative", "balanced", "liberal", "off"}, Help: "academic filter: conservative, balanced, liberal, or off to keep files unread"},
	{Key: "name-filter", Env: "GLEANER_NAME_FILTER", Default: "false", Kind: Switch, Help: "pass files over unread whose name (homework, cv, lecture, …) or size (a PDF under 8 KB) speaks against them"},
	{Key: "whole-text", Env: "GLEANER_WHOLE_TEXT", Default: "false", Kind: Switch, Help: "read and keep all text of every document, not of wanted papers and doubtful ones alone; half as fast"},
	{Key: "ocr", Env: "GLEANER_OCR", Default: "false", Kind: Switch, Help: "read scanned documents with ocrmypdf or tesseract where installed"},

	{Key: "recrawl-first", Env: "GLEANER_RECRAWL_FIRST", Default: "336h", Kind: Duration, Help: "until a page is asked again for the first time"},
	{Key: "recrawl-document", Env: "GLEANER_RECRAWL_DOCUMENT", Default: "2160h", Kind: Duration, Help: "until a document is asked again for the first time"},
	{Key: "recrawl-missing", Env: "GLEANER_RECRAWL_MISSING", Default: "720h", Kind: Duration, Help: "until a URL that was not found is asked again; doubles, and is given up beyond recrawl-max"},
	{Key: "recrawl-min", Env: "GLEANER_RECRAWL_MIN", Default: "24h", Kind: Duration, Help: "shortest interval of a page and of a site; a document's is four times that"},
	{Key: "recrawl-max", Env: "GLEANER_RECRAWL_MAX", Default: "2160h", Kind: Duration, Help: "longest interval of a page and of a site; a document's is four times that"},
	{Key: "recrawl-longer", Env: "GLEANER_RECRAWL_LONGER", Default: "1.4", Kind: Number, Help: "factor of the interval where nothing changed"},
	{Key: "recrawl-shorter", Env: "GLEANER_RECRAWL_SHORTER", Default: "0.8", Kind: Number, Help: "factor of the interval where something changed"},
	{Key: "recrawl-gained", Env: "GLEANER_RECRAWL_GAINED", Default: "0.5", Kind: Number, Help: "factor of the interval where new documents were linked"},
	{Key: "site-retry-base", Env: "GLEANER_SITE_RETRY_BASE", Default: "1h", Kind: Duration, Help: "until a site that was refused or stopped is tried again; doubles each time"},
	{Key: "site-retry-max", Env: "GLEANER_SITE_RETRY_MAX", Default: "720h", Kind: Duration, Help: "bound of that"},
	{Key: "revisit-avoided", Env: "GLEANER_REVISIT_AVOIDED", Default: "5", Kind: Number, Help: "ask to-be-avoided directories at every so many recrawls of a site; 0 is never"},
	{Key: "poor-prr", Env: "GLEANER_POOR_PRR", Default: "0.05", Kind: Number, Help: "page relevancy rate below which a directory or site may be poor"},
	{Key: "poor-ddr", Env: "GLEANER_POOR_DDR", Default: "0.01", Kind: Number, Help: "document download rate below which it is, where its pages are not relevant either"},
	{Key: "poor-adr", Env: "GLEANER_POOR_ADR", Default: "0.05", Kind: Number, Help: "accepted document rate below which it is, too"},
	{Key: "poor-min-urls", Env: "GLEANER_POOR_MIN_URLS", Default: "10", Kind: Number, Help: "pages and documents a directory or site must have to be judged"},
	{Key: "trap-pages", Env: "GLEANER_TRAP_PAGES", Default: "200", Kind: Number, Help: "pages after which a site with a poor relevancy rate is a trap, and its crawl ends; 0 is never"},
	{Key: "stop-sites", Env: "GLEANER_STOP_SITES", Default: "5", Kind: Number, Help: "a directory name barren on more sites is a stop directory"},
	{Key: "stop-share", Env: "GLEANER_STOP_SHARE", Default: "0.05", Kind: Number, Help: "unless more than this share of the sites with the name gave something"},
	{Key: "crawl-policy", Env: "GLEANER_CRAWL_POLICY", Default: "blacklist", Kind: Choice, Choices: []string{"blacklist", "whitelist", "hybrid"}, Help: "what crawls may ask: blacklist (all but listed hosts), whitelist (listed pages and their domain, depth 2) or hybrid (both kinds of site)"},

	{Key: "retain-pages", Env: "GLEANER_RETAIN_PAGES", Default: "168h", Kind: Duration, Help: "how long pages fetched as evidence are kept; 0s is for ever"},
	{Key: "retain-searches", Env: "GLEANER_RETAIN_SEARCHES", Default: "4320h", Kind: Duration, Help: "how long answers of search engines are kept; 0s is for ever"},
	{Key: "retain-robots", Env: "GLEANER_RETAIN_ROBOTS", Default: "720h", Kind: Duration, Help: "how long a robots.txt is kept after it ran out; 0s is for ever"},
	{Key: "retain-rejected", Env: "GLEANER_RETAIN_REJECTED", Default: "4320h", Kind: Duration, Help: "how long files that are no paper are kept; their rows stay; 0s is for ever"},
	{Key: "retain-harvests", Env: "GLEANER_RETAIN_HARVESTS", Default: "0s", Kind: Duration, Help: "how long a harvest is kept after a later one of the same venue covers its years; 0s is for ever"},

	{Key: "build-id", Env: "GLEANER_BUILD_ID", Help: "release of a worker for Temporal's worker versioning; empty for unversioned workers"},
	{Key: "metrics-address", Env: "GLEANER_METRICS_ADDRESS", Help: "host:port for Prometheus metrics and health; empty for none"},
	{Key: "log-level", Env: "GLEANER_LOG_LEVEL", Default: "info", Kind: Choice, Choices: []string{"debug", "info", "warn", "error"}, Help: "debug, info, warn or error"},
}
