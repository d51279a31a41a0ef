package page

// Source says where on a page (or beside it) a link stood.
type Source string

// The sources of links, from the plainest to the faintest.
const (
	SourceSeed      Source = "seed"      // a homepage or a lead, given from outside
	SourceListing   Source = "listing"   // the directory of several pages that were given from outside
	SourceAnchor    Source = "anchor"    // <a href>
	SourceArea      Source = "area"      // <area href>
	SourceFrame     Source = "frame"     // <frame src>, <iframe src>, <object data>, <embed src>
	SourceRefresh   Source = "refresh"   // <meta http-equiv=refresh>
	SourceRedirect  Source = "redirect"  // Location of an answer
	SourceCitation  Source = "citation"  // citation_pdf_url and its kin: a landing page names its document
	SourceAlternate Source = "alternate" // <link rel=alternate|next|canonical>
	SourceSitemap   Source = "sitemap"   // sitemap.xml
	SourceData      Source = "data"      // a work in data: state of a script, JSON, BibTeX; anchor and context are what is said of it there
	SourceList      Source = "list"      // a file of data that a script reads, or a script that fills the page
	SourceScript    Source = "script"    // a string in plain JavaScript, a menu's option, an address in plain text: a hint
)

// Link is one link as it stood on a page.
type Link struct {
	URL      string `json:"url"`               // canonical
	Anchor   string `json:"anchor,omitempty"`  // visible text (an image's alt), spaces folded, at most 300 bytes
	Context  string `json:"context,omitempty"` // text of the enclosing block around the link, at most 500 bytes
	Heading  string `json:"heading,omitempty"` // nearest heading before the link, at most 120 bytes
	TagPath  string `json:"tag_path,omitempty"`
	Position int    `json:"position"` // order on the page, from 0
	Source   Source `json:"source"`
	NoFollow bool   `json:"nofollow,omitempty"`
}

// Wall says that a page stands in the way of what was asked for.
type Wall string

// The walls that are recognised. They are named and never evaded.
const (
	NoWall     Wall = ""
	WallLogin  Wall = "blocked-wall"   // a log-in form, a licence or pay wall
	WallBot    Wall = "blocked-bot"    // a CAPTCHA or a browser check
	WallCookie Wall = "blocked-cookie" // a page that only asks for cookies or JavaScript
)

// Page is what Parse understood.
type Page struct {
	URL         string            // where it was fetched, canonical
	Base        string            // what relative links are relative to
	Charset     string            // IANA name of what the body was decoded from
	Lang        string            // <html lang>
	Title       string            // <title>, or the first heading
	Headings    []string          // h1–h3 in order, at most 50
	Meta        map[string]string // lower-case name or property → content (keywords, description, citation_*)
	Text        string            // visible text, spaces folded, at most 256 KiB
	Links       []Link            // in page order
	NoIndex     bool              // meta robots or X-Robots-Tag
	NoFollow    bool              // the same: its links must not be followed
	Wall        Wall
	SoftMissing bool // a "not found" page under status 200
	Shell       bool // scripts fill it, and neither it nor data that it names has what they show
	// Scripts are the canonical addresses of the scripts that tags of a page with an element
	// for scripts to fill name, at most maxNamed.
	Scripts []string
	// Truncated names what was cut off at a limit (CutLinks, CutText); nil if
	// the page is whole.
	Truncated []string
}

// Titles are what may be the title of the paper that a page is: its own, the one that
// it is to be cited by, and its first headings.
func (p *Page) Titles() []string {
	return append([]string{p.Title, p.Meta["citation_title"]}, p.Headings[:min(len(p.Headings), 3)]...)
}
