package homepage

import (
	"math"
	"net/url"
	"path"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
)

// fetchedSite is a fetched candidate: its page and, if any were fetched, pages of the same
// site that list papers.
type fetchedSite struct {
	url   *url.URL
	page  *page.Page
	inner []*page.Page
	hits  int // search results on the same site
}

// Feature names. Each value lies between 0 and 1.
const (
	fNameTitle   = "name_title"   // strength of the name in the title
	fNameHeading = "name_heading" // in the first headings
	fNameURL     = "name_url"     // in host label, "~user" or last directory
	fNameEmail   = "name_email"   // in an e-mail address on the page
	fNameText    = "name_text"    // in the beginning of the text
	fMentions    = "mentions"     // full mentions on the page, saturating
	fIdentity    = "identity"     // the best of title, heading, URL and e-mail
	fOther       = "other_owner"  // title, heading or address name another person
	fTitles      = "titles"       // wanted titles on page and inner page, saturating
	fTitleShare  = "title_share"  // the same as a share of all
	fCoAuthors   = "co_authors"   // share of co-authors named
	fTopic       = "topic"        // share of the wanted titles' words on it
	fVenue       = "venue"        // the venue is named
	fDocuments   = "documents"    // links to documents, saturating
	fResearch    = "research"     // words of a researcher's page, in several languages
	fHomeWord    = "home_word"    // "home page" and its like in the title
	fRoot        = "root"         // a site's or a user's root
	fUser        = "user_dir"     // "~user", a user directory or one person's host
	fAcademic    = "academic"     // the host's name
	fDepth       = "depth"        // directories
	fListed      = "listed"       // a directory lists it, by trust
	fLinked      = "linked"       // a link with their name leads here
	fRank        = "rank"         // 1/rank in the search
	fHits        = "hits"         // search results on the site, saturating
	fThin        = "thin"         // hardly any text
	fProjectSite = "project_site" // no person's name in title or address, most of the titles
	fVouched     = "vouched"      // identity, and evidence that links it to these papers
	fNamesake    = "namesake"     // identity without such evidence, and no sign of research
	fPortal      = "portal_signs" // words of sites that hold profiles of many: log in, claim, followers
	fRival       = "rival"        // another page with the name shows the papers
)

// features returns the evidence of a fetched candidate for the person.
func (p *person) features(c evidence.Candidate, fs fetchedSite) map[string]float64 {
	f := map[string]float64{}
	set := func(k string, v float64) {
		if v != 0 {
			f[k] = math.Round(v*1e4) / 1e4
		}
	}
	p.identity(fs, set)
	p.substance(fs, set)
	p.place(c, fs, set)
	for kind := range kinds.Path {
		if kindOf(fs.url, fs.page, kind) {
			set("kind_"+kind, 1)
		}
	}
	for _, kind := range []string{"obituary", "news", "missing"} {
		if titleHas(fs.page, kind) {
			set("kind_"+kind, 1)
		}
	}
	if fs.page.SoftMissing {
		set("kind_missing", 1)
	}
	if fs.page.Meta["citation_title"] != "" {
		set("kind_landing", 1)
	}
	combine(f, set)
	return f
}

// text returns the text of all fetched pages of the site.
func (fs fetchedSite) text() string {
	all := fs.page.Text
	for _, in := range fs.inner {
		all += " " + in.Text
	}
	return all
}

// combine adds the products that a linear model cannot make.
func combine(f map[string]float64, set func(string, float64)) {
	bound := 1 - (1-f[fTitles])*(1-f[fCoAuthors])*(1-0.5*f[fListed])*(1-0.5*f[fLinked])
	set(fVouched, min(1, f[fIdentity]/nameInitials)*bound)
	if bound < 0.05 {
		set(fNamesake, f[fIdentity]*(1-math.Min(1, f[fResearch]+f[fDocuments])))
	}
	if f[fIdentity] < nameInitials && f[fOther] == 0 {
		set(fProjectSite, f[fTitles]*f[fTitleShare]*f[fMentions])
	}
}

// identity sets the features of names: whether the page is this person's.
func (p *person) identity(fs fetchedSite, set func(string, float64)) {
	titleWords := text.Words(fs.page.Title)
	title, otherTitle := p.in(titleWords)
	set(fNameTitle, title)
	heading, otherHeading := 0.0, false
	for i, h := range fs.page.Headings[:min(3, len(fs.page.Headings))] {
		s, o := p.in(text.Words(h))
		heading = max(heading, s)
		otherHeading = otherHeading || (o && i == 0)
	}
	set(fNameHeading, heading)
	address := p.inAddress(fs.url)
	set(fNameURL, address)
	mail := p.inEmail(fs.page)
	set(fNameEmail, mail)
	ws := text.Words(text.Head(fs.page.Text, 600))
	early, _ := p.in(ws)
	set(fNameText, early)
	set(fMentions, saturate(float64(p.mentions(text.Words(text.Head(fs.text(), 100_000)), 50)), 4))
	// A page titled with another name is another person's, whatever its text.
	own := max(title, heading)
	byText := 0.0
	if root, personal := siteOf(fs.url, p.names[0]); address >= nameInitials || personal && sameAddress(root, fs.url.String()) {
		atOnce, _ := p.in(text.Words(text.Head(fs.page.Text, 250)))
		byText = 0.7 * atOnce
	}
	set(fIdentity, max(own, min(address, 0.9), mail, byText))
	switch {
	case p.coAuthorOwns(fs) && own < nameInitials:
		set(fOther, 1)
	case (otherTitle || otherHeading) && own < nameInitials:
		set(fOther, 1)
	case own < nameInitials && address < nameInitials && ownedByAnother(fs.url, fs.page):
		set(fOther, 1)
	}
}

// coAuthorOwns reports whether title, first heading or "~user" name a co-author.
func (p *person) coAuthorOwns(fs fetchedSite) bool {
	for _, s := range strings.Split(fs.url.Path, "/") {
		for _, n := range p.coAuthors {
			if strings.HasPrefix(s, "~") && p.inLabel(s) < nameSurname && n.inLabel(s) >= nameInitials {
				return true
			}
		}
	}
	texts := append([]string{fs.page.Title}, fs.page.Headings[:min(1, len(fs.page.Headings))]...)
	for _, t := range texts {
		ws := text.Words(t)
		for _, n := range p.coAuthors {
			if s, _ := n.in(ws); s >= nameLoose {
				return true
			}
		}
	}
	return false
}

// ownedByAnother reports whether a segment of the title reads like a person's name that
// the address has, too.
func ownedByAnother(u *url.URL, pg *page.Page) bool {
	label := text.Letters(ownLabel(u))
	for _, s := range strings.Split(u.Path, "/") {
		if strings.HasPrefix(s, "~") {
			label = text.Letters(s)
		}
	}
	texts := append([]string{pg.Title}, pg.Headings[:min(2, len(pg.Headings))]...)
	for _, t := range texts {
		for _, seg := range titleSegments(t) {
			if len(seg) < 2 || len(seg) > 4 {
				continue
			}
			if n := parseName(strings.Join(seg, " ")); n.inToken(label) >= nameInitials {
				return true
			}
		}
	}
	return false
}

// titleSegments returns the words between a title's separators, without those that are
// usual beside names ("home page of").
func titleSegments(t string) [][]string {
	var out [][]string
	for _, s := range strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune("|·•:–—/()[]-", r) }) {
		seg := each.Where(text.Words(strings.ReplaceAll(strings.ReplaceAll(s, "'s", " "), "’s", " ")), func(w string) bool {
			return !nameNoise[w]
		})
		if len(seg) > 0 {
			out = append(out, seg)
		}
	}
	return out
}

// inAddress returns the strength of the name in the parts of an address that may name a
// person: host label, "~user", first directories.
func (p *person) inAddress(u *url.URL) float64 {
	best := p.inLabel(ownLabel(u))
	segs := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, s := range segs {
		// A deeper segment is a title or a file as often as a name.
		if i < 4 && s != "" {
			best = max(best, p.inLabel(s))
		}
	}
	return best
}

// inEmail returns the strength of the name in e-mail addresses of the text ("j.doe@x", "jdoe [at] x").
func (p *person) inEmail(pg *page.Page) float64 {
	best := 0.0
	ws := strings.Fields(text.Head(pg.Text, 20_000))
	for i, w := range ws {
		local, _, ok := strings.Cut(w, "@")
		if !ok && i+1 < len(ws) && atSigns[strings.ToLower(ws[i+1])] {
			local, ok = w, true
		}
		if ok {
			best = max(best, p.inLabel(local))
		}
	}
	return min(best, nameLoose)
}

var atSigns = map[string]bool{"at": true, "[at]": true, "(at)": true, "@": true, "<at>": true, "{at}": true, "_at_": true}

// substance sets the features of content: whether the page is about these papers, or research.
func (p *person) substance(fs fetchedSite, set func(string, float64)) {
	all, docs := fs.text(), documentLinks(fs.page)
	for _, in := range fs.inner {
		docs += documentLinks(in)
	}
	if n := p.titlesIn(text.Letters(all)); n > 0 {
		set(fTitles, 0.8+0.2*saturate(float64(n-1), 1))
		set(fTitleShare, float64(n)/float64(len(p.titles)))
	}
	ws := text.Words(text.Head(all, 100_000))
	if found := each.Count(p.coAuthors, func(n name) bool { s, _ := n.in(ws); return s >= nameNick }); found > 0 {
		set(fCoAuthors, 0.6+0.4*saturate(float64(found-1), 1))
	}
	set(fTopic, p.topicIn(ws))
	joined := " " + strings.Join(ws, " ") + " "
	stands := func(words string) bool { return strings.Contains(joined, " "+words+" ") }
	set(fVenue, boolTo(slices.ContainsFunc(p.venues, stands)))
	set(fDocuments, saturate(float64(docs), 5))
	count := each.Count(researchStems, func(stem string) bool { return strings.Contains(joined, " "+stem) })
	set(fResearch, saturate(float64(count), 4))
	set(fThin, boolTo(len(all) < 200))
	set(fPortal, saturate(float64(each.Count(portalWords, stands)), 2))
}

// researchStems are beginnings of words of researchers' pages, in several languages.
var researchStems = []string{
	"publication", "research", "papers", "phd", "student", "professor", "university", "conference", "journal", "proceedings", "teaching", "theory", "algorithm", "laborator",
	"forschung", "veroffentlichung", "publikation", "universitat", "lehre", "recherche", "enseignement", "investigacion", "publicacion", "universidad", "ricerca", "pubblicazion",
	"pesquisa", "publicac", "onderzoek", "publicati", "badania", "publikac", "forskning", "arastirma", "yayin", "issledovan", "publikats", "arxiv", "preprint", "dissertation", "thesis", "postdoc",
}

// portalWords are usual on sites with profiles of many people.
var portalWords = []string{
	"log in", "login", "sign in", "sign up", "join for free", "join now", "create account", "create an account", "claim this profile", "claim your profile", "followers", "similar authors",
	"view the profile", "view profile", "h index", "cited by", "citations", "terms of service", "add to cart", "is this you",
}

// place sets the features of address, source and search.
func (p *person) place(c evidence.Candidate, fs fetchedSite, set func(string, float64)) {
	u := fs.url
	root, personal := siteOf(u, p.names[0])
	set(fRoot, boolTo(sameAddress(root, u.String())))
	set(fUser, boolTo(personal))
	set(fAcademic, boolTo(isAcademic(u)))
	set(fDepth, math.Min(1, float64(strings.Count(strings.Trim(u.Path, "/"), "/"))/5))
	switch source, _, _ := strings.Cut(c.Source, ":"); source {
	case evidence.SourceListed:
		set(fListed, 1)
	case evidence.SourceCoAuthor, evidence.SourcePeople, evidence.SourceMoved:
		set(fLinked, 1)
	}
	if c.Rank > 0 {
		set(fRank, 1/float64(c.Rank))
	}
	set(fHits, saturate(float64(fs.hits), 3))
	t := " " + strings.Join(text.Words(fs.page.Title), " ") + " "
	set(fHomeWord, boolTo(slices.ContainsFunc(homeTitles, func(w string) bool { return strings.Contains(t, " "+w+" ") })))
}

// homeTitles stand in the titles of homepages.
var homeTitles = []string{
	"homepage", "home page", "personal page", "personal site", "personal website", "website", "web page", "webpage", "home",
	"welcome", "about me",
}

// documentLinks counts links to documents.
func documentLinks(pg *page.Page) int {
	return each.Count(pg.Links, func(l page.Link) bool {
		ext := path.Ext(strings.TrimSuffix(strings.ToLower(parseURL(l.URL).Path), ".gz"))
		return ext == ".pdf" || ext == ".ps" || ext == ".dvi" || ext == ".djvu"
	})
}

// saturate maps 0… to 0…1, with one half at half.
func saturate(x, half float64) float64 { return x / (x + half) }

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
