package config

import (
	"slices"
	"time"
)

// Config is every setting, by subject, and the policy. What a field is called in
// the file and as a flag, its default, its bounds and its help stand beside it;
// everything that lists, reads or checks settings goes by that.
type Config struct {
	Servers    Servers
	Web        Web
	Catalogues Catalogues
	Search     Search
	Crawl      Crawl
	Documents  Documents
	Retain     Retain
	Notify     Notify
	Console    Console
	Process    Process

	Policy Policy `koanf:"-"` // of the file that Process.Policy names

	origins map[string]string // setting or policy → where its value is from, but for defaults
}

// Servers are what everything is stored in and run by.
type Servers struct {
	DataDir    string `koanf:"data-dir" check:"text" help:"folder of 'starter dev': database, blobs, logs (default: gleaner in the user's data folder)"`
	Database   Secret `koanf:"database-url" check:"text" help:"Postgres; without it the running 'starter dev' of the data folder is used"`
	Temporal   string `koanf:"temporal-address" env:"TEMPORAL_ADDRESS" check:"host" help:"host:port of Temporal; without it as above"`
	Namespace  string `koanf:"temporal-namespace" env:"TEMPORAL_NAMESPACE" check:"word" default:"default" help:"Temporal namespace"`
	Repository string `koanf:"repository-url" check:"url" help:"blob store for documents: file:///path or s3://bucket (default: blobs in the data folder)"`
}

// Web says how hosts are asked.
type Web struct {
	Contact        string        `koanf:"contact" check:"text" help:"e-mail or URL where web masters reach you; without it only loopback or a proxy is asked"`
	Delay          time.Duration `koanf:"delay" default:"1s" help:"least time between two requests to one host"`
	MinDelay       time.Duration `koanf:"min-delay" default:"500ms" help:"no host is asked faster, whatever delay says; lower it only for servers of your own"`
	PaceBy         []PaceBy      `koanf:"pace-by" choices:"host,domain,address" default:"host" help:"what shares one pace: host; domain or address (or domain,address) beside it"`
	Ports          []Port        `koanf:"ports" min:"1" help:"ports that may be asked beside 80, 443, 8080 and 8443: 8000,8081"`
	AllowAddresses []Network     `koanf:"allow-addresses" help:"private networks that may be asked, as CIDR, with a port if it is no usual one: 10.1.0.0/16,127.0.0.1/32:8000"`
	Proxy          Secret        `koanf:"proxy" check:"proxy" help:"HTTP proxy for everything that is fetched, or none (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)"`
	CAFile         string        `koanf:"ca-file" check:"text" help:"further certificate authorities, as PEM (SSL_CERT_FILE works too)"`
}

// Catalogues are the services that know papers, people and copies.
type Catalogues struct {
	DBLP               string        `koanf:"dblp-url" check:"http" help:"DBLP's base address (default: https://dblp.org)"`
	DBLPMirror         string        `koanf:"dblp-mirror-url" check:"mirror" help:"its mirror, - for none (default: https://dblp.uni-trier.de, or none where dblp-url is set)"`
	DBLPDelay          time.Duration `koanf:"dblp-delay" default:"1s" help:"least time between two requests to DBLP"`
	DBLPDump           string        `koanf:"dblp-dump" check:"text" help:"local dblp.xml or dblp.xml.gz, asked when DBLP does not answer"`
	Sources            []Source      `koanf:"sources" choices:"dblp,acl,crossref,openalex,oai,arxiv,semanticscholar" default:"dblp" help:"what lists a venue's papers: dblp, acl, crossref, openalex, oai; arxiv and semanticscholar add identifiers; comma-separated, dblp decides where it is named"`
	Directories        []Directory   `koanf:"directories" choices:"dblp,orcid,semanticscholar,none" default:"dblp" help:"what names people's homepages: dblp, orcid, semanticscholar; comma-separated, or none"`
	OAI                string        `koanf:"oai-endpoint" check:"http" help:"base address of an OAI-PMH repository, for sources"`
	Copies             []CopySource  `koanf:"copies" choices:"links,arxiv,unpaywall,openalex,semanticscholar,none" default:"links" help:"where to look for open copies: links, arxiv, unpaywall, openalex, semanticscholar; comma-separated, or none"`
	OpenAlexKey        Secret        `koanf:"openalex-key" check:"word" help:"OpenAlex API key"`
	SemanticScholarKey Secret        `koanf:"semantic-scholar-key" check:"word" help:"Semantic Scholar API key"`
}

// Search is the web search for homepages.
type Search struct {
	Providers []Provider    `koanf:"search" choices:"searxng,brave,serper,none" default:"none" help:"web search for homepages and topics: searxng, brave, serper; comma-separated, whose answers are merged, or none"`
	SearXNG   string        `koanf:"searxng-url" check:"http" help:"base address of your SearXNG"`
	Delay     time.Duration `koanf:"search-delay" default:"0s" help:"least time between two searches"`
	Budget    int           `koanf:"search-budget" default:"0" min:"0" help:"searches a month of each engine; 0 is no limit"`
	BraveKey  Secret        `koanf:"brave-key" check:"word" help:"Brave search API key"`
	SerperKey Secret        `koanf:"serper-key" check:"word" help:"Serper API key"`
}

// On reports whether there is a search engine.
func (s Search) On() bool {
	return slices.ContainsFunc(s.Providers, func(p Provider) bool { return p != "none" })
}

// Crawl says what a crawl of a site takes, and in which order.
type Crawl struct {
	Strategy Strategy    `koanf:"strategy" choices:"gleaner,zhuang,bfs" default:"gleaner" help:"order of a crawl: gleaner, zhuang or bfs"`
	MaxPages int         `koanf:"max-pages" default:"20000" min:"1" help:"requests of one crawl of one site"`
	Leads    Leads       `koanf:"leads" choices:"wanted,all,none" default:"wanted" help:"documents linked on other hosts: wanted, all or none"`
	WARC     bool        `koanf:"warc" default:"false" help:"keep what crawls exchange with hosts in WARC files, below warc in the blob store"`
	Policy   CrawlPolicy `koanf:"crawl-policy" choices:"blacklist,whitelist,hybrid" default:"blacklist" help:"what crawls may ask: blacklist (all but listed hosts), whitelist (listed pages and their domain, depth 2) or hybrid (both kinds of site)"`
}

// Documents says how documents are read and told apart.
type Documents struct {
	Filter    Filter `koanf:"filter" choices:"conservative,balanced,liberal,off" default:"balanced" help:"academic filter: conservative, balanced, liberal, or off to keep files unread"`
	WholeText bool   `koanf:"whole-text" default:"false" help:"read and keep the whole text of every document, not only of possible wanted papers; half as fast"`
	OCR       bool   `koanf:"ocr" default:"true" help:"read the first pages of scanned documents with tesseract, where installed, after all others"`
}

// Retain says how long what is kept.
type Retain struct {
	Pages    time.Duration `koanf:"retain-pages" default:"7d" help:"how long pages fetched as evidence are kept; 0s is for ever"`
	Searches time.Duration `koanf:"retain-searches" default:"180d" help:"how long answers of search engines are kept; 0s is for ever"`
	Robots   time.Duration `koanf:"retain-robots" default:"30d" help:"how long a robots.txt is kept after it ran out; 0s is for ever"`
	Rejected time.Duration `koanf:"retain-rejected" default:"180d" help:"how long rejected files and the lines of ended jobs are kept (rows and counters stay); 0s is for ever"`
	Waiting  time.Duration `koanf:"retain-waiting" default:"180d" help:"how long links that a collection did not ask for are kept after it ended; 0s is for ever"`
	Harvests time.Duration `koanf:"retain-harvests" default:"0s" help:"how long a harvest is kept after a later one covers its years; 0s is for ever"`
}

// Notify says who is told that a harvest ended, that sites refused, and that many
// matches wait for review.
type Notify struct {
	Webhook  Secret        `koanf:"notify-webhook" check:"http" help:"address to which notices are posted as JSON; empty for none"`
	Key      Secret        `koanf:"notify-webhook-key" check:"word" help:"secret with which they are signed, by the Standard Webhooks"`
	SMTP     Secret        `koanf:"notify-smtp" check:"smtp" help:"mail server for notices: smtp://user:password@mail.example:587, or smtps://…; empty for none"`
	MailFrom string        `koanf:"notify-mail-from" check:"mail" help:"sender of notices"`
	MailTo   string        `koanf:"notify-mail-to" check:"mail" help:"recipients of notices, comma-separated"`
	Every    time.Duration `koanf:"notify-every" default:"15m" min:"10s" help:"least time between two notices; each covers all events since the last"`
	Review   int           `koanf:"notify-review" default:"25" min:"0" help:"tell when so many matches wait for review; 0 is never"`
}

// Console says what people may do in the console.
type Console struct {
	Imports     string `koanf:"console-imports" check:"text" help:"folder, as console and workers see it, from which the console may import; empty for none"`
	LoginSecret Secret `koanf:"console-oidc-secret" check:"word" help:"client secret of the console at the identity provider that the policy names"`
}

// Process is one running program.
type Process struct {
	BuildID  string   `koanf:"build-id" check:"word" help:"release of a worker for Temporal's worker versioning; empty for unversioned workers"`
	Metrics  string   `koanf:"metrics-address" check:"host" help:"host:port for Prometheus metrics and health; empty for none"`
	LogLevel LogLevel `koanf:"log-level" choices:"debug,info,warn,error" default:"info" help:"debug, info, warn or error"`
	Policy   string   `koanf:"policy" check:"text" help:"policy file, for what is seldom changed; 'starter config init --write-policy' writes one"`
}
