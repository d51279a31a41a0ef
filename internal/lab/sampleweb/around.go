package sampleweb

import (
	"fmt"
	"strings"
)

// landingURL is a paper's page on the proceedings host, proceedingsFile the PDF
// that it names.
func (p *paper) landingURL() string {
	return fmt.Sprintf("http://%s/v%d/%s.html", ProceedingsHost, p.year, p.slug())
}

func (p *paper) proceedingsFile() string {
	return fmt.Sprintf("http://%s/v%d/%s/%s%s", ProceedingsHost, p.year, p.slug(), p.slug(), p.format.extension())
}

func (p *paper) slug() string {
	s := strings.ToLower(p.id)
	if p.venue > 0 {
		s = fmt.Sprintf("s%d-%s", p.venue+1, s)
	}
	return s
}

// number is the publisher's. No DOI: this world has no resolver of them.
func (p *paper) number() string { return fmt.Sprintf("%d-%d", p.venue+1, 1000+p.index) }

// electronic is the paper's `ee`.
func (p *paper) electronic() string {
	if p.landing {
		return p.landingURL()
	}
	return "http://" + publisherHost + "/article/" + p.number() // a wall
}

// buildProceedings: landing pages that name their PDF in a meta element.
func (w *Web) buildProceedings() {
	h := w.host(ProceedingsHost)
	h.robots = "User-agent: *\nCrawl-delay: 1\nDisallow: /search\nAllow: /\n"
	if w.opt.NoCrawlDelay {
		h.robots = strings.Replace(h.robots, "Crawl-delay: 1\n", "", 1)
	}
	volumes := map[int][]*paper{}
	for _, p := range w.papers {
		if !p.landing {
			continue
		}
		volumes[p.year] = append(volumes[p.year], p)
		file := strings.TrimPrefix(p.proceedingsFile(), "http://"+ProceedingsHost)
		h.file(file, kindOf(file), func() []byte { return w.paperFile(p) })
		h.html(fmt.Sprintf("/v%d/%s.html", p.year, p.slug()), "", func() []byte {
			meta := fmt.Sprintf("<meta name=\"citation_title\" content=\"%s\">", esc(p.title))
			for _, name := range p.authorNames() {
				meta += fmt.Sprintf("<meta name=\"citation_author\" content=\"%s\">", esc(name))
			}
			meta += fmt.Sprintf("<meta name=\"citation_publication_date\" content=\"%d\"><meta name=\"citation_pdf_url\" content=\"%s\">", p.year, p.proceedingsFile())
			d := bareDoc(p.title, meta)
			d.f("<body><h1>%s</h1>\n", esc(p.title))
			d.p(strings.Join(p.authorNames(), ", "))
			d.f("<h4>Abstract</h4>\n")
			d.p(w.article(p).abstract)
			d.f("<p><a href=\"%s\">Download %s</a></p>\n", p.proceedingsFile(), strings.ToUpper(strings.TrimPrefix(p.format.extension(), ".")))
			return d.bytes()
		})
	}
	h.page("/", "", "Proceedings of SAMPLE", func(d *doc) {
		for y := w.opt.FirstYear; y < w.opt.FirstYear+w.opt.Years; y++ {
			d.f("<p><a href=\"/v%d/\">Volume %d</a></p>\n", y, y)
		}
	})
	for y, papers := range volumes {
		h.page(fmt.Sprintf("/v%d/", y), "", fmt.Sprintf("Volume %d", y), func(d *doc) {
			for _, p := range papers {
				d.f("<p>%s<br><a href=\"%s\">abs</a> <a href=\"%s\">download</a></p>\n", esc(p.title), p.landingURL(), p.proceedingsFile())
			}
		})
	}
}

// buildPublisher: pages that show a title and ask for a subscription.
func (w *Web) buildPublisher() {
	h := w.host(publisherHost)
	h.robots = "User-agent: *\nDisallow: /pdf/\n"
	for _, p := range w.papers {
		if p.landing {
			continue
		}
		h.page("/article/"+p.number(), "", p.title, func(d *doc) {
			d.p(strings.Join(p.authorNames(), ", "))
			d.p("You do not have access to this article. Sign in or purchase it.")
			d.f("<form action=\"/login\" method=\"post\"><input name=\"user\"><input type=\"password\" name=\"password\"><input type=\"submit\" value=\"Sign in\"></form>\n")
			d.f("<p><a href=\"/pdf/%s\">PDF (subscribers)</a></p>\n", p.number())
		})
		h.fail("/pdf/"+p.number(), 403)
	}
}

// buildMirror: a host that has files and no page that lists them, so that they
// are found only from the authors' pages.
func (w *Web) buildMirror() {
	h := w.host(mirrorHost)
	for _, p := range w.papers {
		if p.mirror {
			h.file(p.path, kindOf(p.path), func() []byte { return w.paperFile(p) })
		}
	}
	h.fail("/", 403)
}

// buildPortal: profiles that are about a person and are not their homepage.
func (w *Web) buildPortal() {
	h := w.host(portalHost)
	for _, a := range w.authors {
		h.page("/profile/"+a.login, a.name+" | Scholar Portal", a.name+" | Scholar Portal", func(d *doc) {
			d.p(fmt.Sprintf("%s has %d publications at %s. Follow this profile for updates.", a.name, len(a.papers), venue(0).Name))
			for _, p := range a.papers {
				d.p(p.title)
			}
			d.p("Are you " + a.name + "? Claim this profile.")
		})
	}
	h.page("/", "", "Scholar Portal", func(*doc) {})
}

// trades of the people who share a name with an author.
var trades = []string{"dental surgery", "wedding photography", "piano lessons", "garden design"}

// buildNamesakes: every fifth author shares their name with somebody else who
// has a site.
func (w *Web) buildNamesakes() {
	for i, a := range w.authors {
		if i%5 != 0 {
			continue
		}
		trade := trades[i/5%len(trades)]
		h := w.host(ascii(a.first) + a.login + "-" + strings.ReplaceAll(trade, " ", "-") + ".example")
		h.page("/", a.name+", "+trade, a.name+", "+trade, func(d *doc) {
			d.p(a.name + " offers " + trade + " to customers of all ages. Call for an appointment.")
			d.f("<p><a href=\"/prices.html\">Prices</a> <a href=\"/brochure.pdf\">Brochure</a></p>\n")
		})
		h.page("/prices.html", "", "Prices", func(d *doc) {
			d.p("Prices on request.")
		})
		h.file("/brochure.pdf", "application/pdf", func() []byte {
			return SheetPDF(a.name+", "+trade, []string{"Opening hours", "Monday to Friday, nine to five"})
		})
	}
}
