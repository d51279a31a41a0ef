package config

import "time"

// Policy is what operators seldom touch. It stands in one file of its own, by
// section; was is what a field was called as long as it was a setting.
type Policy struct {
	Pace      PacePolicy      `koanf:"pace" help:"How hosts are left alone, beside the settings delay and min-delay."`
	Fetch     FetchPolicy     `koanf:"fetch" help:"What one answer may bring."`
	Crawl     CrawlLimits     `koanf:"crawl" help:"What one crawl of one site may take."`
	Recrawl   RecrawlPolicy   `koanf:"recrawl" help:"When what is asked again."`
	Links     LinksPolicy     `koanf:"links" help:"What of the web crawls leave out, unless a harvest says otherwise (starter harvest --links)."`
	Poor      PoorPolicy      `koanf:"poor" help:"When a directory or a site is not worth it. Rates are shares from 0 to 1."`
	Index     IndexPolicy     `koanf:"index" help:"The index of fetched pages, searched where no web search answers."`
	Documents DocumentsPolicy `koanf:"documents" help:"What is done with documents."`
	Models    ModelsPolicy    `koanf:"models" help:"Weights and word lists in place of those that come with the program."`
	Login     LoginPolicy     `koanf:"login" help:"The identity provider (OpenID Connect) by which people log in to the console, beside passwords, and who may do what there: ada@library.example, @library.example for all of a domain, or group:staff. Nobody else is let in."`
	Services  ServicesPolicy  `koanf:"services" help:"Base addresses of catalogues, in place of the public ones."`
}

// PacePolicy bounds the pauses between requests to one host.
type PacePolicy struct {
	Factor        float64       `koanf:"factor" default:"5" min:"1" max:"1000" help:"wait so many times the last answer's time, if that is longer"`
	MaxDelay      time.Duration `koanf:"max-delay" default:"30s" min:"1s" help:"bound of the adaptive delay"`
	MaxCrawlDelay time.Duration `koanf:"max-crawl-delay" default:"2m" min:"1s" help:"longest Crawl-delay of a robots.txt that is obeyed in full"`
	MaxRetryAfter time.Duration `koanf:"max-retry-after" default:"6h" min:"1s" help:"longest Retry-After of an answer that is obeyed in full"`
	ParkAfter     int           `koanf:"park-after" default:"5" min:"1" help:"park a host after so many failures in a row"`
	ParkFor       time.Duration `koanf:"park-for" default:"1h" min:"1ms" help:"how long a parked host is left alone; a catalogue a twelfth of it"`
}

// LoginPolicy says by whom people are known in the console, and who may do what.
type LoginPolicy struct {
	Issuer         string   `koanf:"issuer" check:"http" help:"the provider, as it names itself: https://login.library.example; empty for none"`
	Client         string   `koanf:"client" check:"word" help:"client id by which the provider knows the console; the setting console-oidc-secret goes with it"`
	Groups         string   `koanf:"groups" check:"word" default:"groups" help:"claim in which the provider names somebody's groups"`
	Readers        []string `koanf:"readers" check:"word" help:"who may look"`
	Editors        []string `koanf:"editors" check:"word" help:"who may also start and end harvests and jobs, and settle matches"`
	Administrators []string `koanf:"administrators" check:"word" help:"who may also say who uses the console, and which hosts are never asked"`
}

// FetchPolicy bounds bodies.
type FetchPolicy struct {
	PageBytes     Size `koanf:"page-bytes" default:"10MiB" min:"1kB" help:"largest page"`
	DocumentBytes Size `koanf:"document-bytes" default:"100MiB" min:"1kB" help:"largest document"`
}

// CrawlLimits bound one crawl of one site.
type CrawlLimits struct {
	SlicePages   int           `koanf:"slice-pages" default:"500" min:"1" help:"requests of one slice of a crawl"`
	SliceTime    time.Duration `koanf:"slice-time" default:"5m" min:"1s" help:"time of one slice of a crawl"`
	SiteBytes    Size          `koanf:"site-bytes" default:"20GB" help:"unpacked bytes of one crawl of a site, or of a user of a shared host (of the whole host five times that); 0 is no limit"`
	HarvestBytes Size          `koanf:"harvest-bytes" default:"500GB" help:"bytes that the crawls of one harvest may bring together; 0 is no limit"`
	SiteTime     time.Duration `koanf:"site-time" default:"7d" help:"how long one crawl of one site may take, with pauses; 0s is no limit"`
	Depth        int           `koanf:"depth" default:"15" min:"0" help:"links from the nearest homepage"`
	DirPages     int           `koanf:"directory-pages" default:"2000" min:"1" help:"pages of one directory of a site; documents are not counted"`
	Tries        int           `koanf:"tries" default:"3" min:"1" help:"tries of a URL that fails for now"`
	RetryBase    time.Duration `koanf:"retry-base" default:"30s" min:"1ms" help:"wait before a URL's second try, fourfold before each further one; a host rests a third of it after a failure, doubling, at least 10s"`
	Render       Render        `koanf:"render" choices:"auto,off" default:"auto" help:"auto: an installed Chromium without a network shows pages whose links only scripts show; off: none"`
}

// RecrawlPolicy holds the intervals.
type RecrawlPolicy struct {
	First     time.Duration `koanf:"first" default:"14d" help:"first interval of a page"`
	Document  time.Duration `koanf:"document" default:"90d" help:"first interval of a document"`
	Min       time.Duration `koanf:"min" default:"24h" help:"shortest interval of a page or a site; of a document four times that"`
	Max       time.Duration `koanf:"max" default:"90d" help:"longest interval of a page or a site; of a document four times that"`
	RetryBase time.Duration `koanf:"site-retry-base" default:"1h" help:"first wait of a site that was refused or stopped; doubles each time, to 30 days"`
}

// LinksPolicy are the lists of package rules.
type LinksPolicy struct {
	Ignore          []string `koanf:"ignore" check:"text" help:"hosts with their subdomains, or addresses without scheme, that are not asked (a star stands for anything): ads.example.com,*/courses.html"`
	Allow           []string `koanf:"allow" check:"text" help:"where alone pages are followed, on whatever host; documents are not held to it"`
	IgnoreTypes     []string `koanf:"ignore-types" check:"word" help:"endings of file names that are not asked for, beside those that never are"`
	StopDirectories []string `koanf:"stop-directories" check:"word" help:"names of directories in which nothing is asked for; learnt stands for those of 'starter stats directories --stop'"`
	Inspect         bool     `koanf:"inspect" default:"false" help:"follow links by their words, as CINDI does; departments always"`
	Levels          int      `koanf:"levels" default:"0" min:"0" help:"directories that an address may have; 0 is the limit of any address (20); CINDI has 7"`
}

// PoorPolicy says when a directory or a site is not worth it.
type PoorPolicy struct {
	Yield     float64 `koanf:"page-rate" default:"0.05" min:"0" max:"1" help:"page yield below which a directory or site may be poor, where its documents are few or not accepted"`
	TrapPages int     `koanf:"trap-pages" default:"200" min:"0" help:"pages after which a site with a poor page yield, or a user of a shared host, is a trap and crawled no further; 0 is never"`
}

// IndexPolicy is of the local index.
type IndexPolicy struct {
	On    bool `koanf:"on" default:"true" help:"index fetched pages, and search there where no web search answers"`
	Pages int  `koanf:"pages" default:"200000" min:"0" help:"pages that the index keeps; 0 is no limit"`
}

// DocumentsPolicy is what is done with documents.
type DocumentsPolicy struct {
	NameFilter bool `koanf:"name-filter" default:"false" help:"skip files whose name (homework, cv, lecture, …) speaks against them, in crawls and imports; in crawls also PDFs under 8 KB"`
}

// ModelsPolicy names files of weights and words; an empty name is what comes with
// the program.
type ModelsPolicy struct {
	Homepage    string   `koanf:"homepage" check:"text" help:"weights of 'lab train homepage'"`
	Filter      string   `koanf:"filter" check:"text" help:"weights of 'lab train filter'"`
	Disciplines []string `koanf:"disciplines" check:"text" help:"NAME=FILE, classifiers of 'lab train topic': only academic documents of one of these disciplines are accepted, and wanted papers"`
	LinkLists   string   `koanf:"link-lists" check:"text" help:"word lists of 'lab train links', or of your own (YAML)"`
	LinkPrior   string   `koanf:"link-prior" check:"text" help:"weights of 'lab train links --prior'"`
}

// ServicesPolicy are base addresses; an empty one is the public service.
type ServicesPolicy struct {
	Crossref        string `koanf:"crossref" check:"http" help:"Crossref"`
	OpenAlex        string `koanf:"openalex" check:"http" help:"OpenAlex"`
	SemanticScholar string `koanf:"semantic-scholar" check:"http" help:"Semantic Scholar"`
	Unpaywall       string `koanf:"unpaywall" check:"http" help:"Unpaywall"`
	ArXiv           string `koanf:"arxiv" check:"http" help:"arXiv"`
	ORCID           string `koanf:"orcid" check:"http" help:"ORCID"`
	ACL             string `koanf:"acl" check:"http" help:"folder of the ACL Anthology's XML files"`
}
