package hardset

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"

	"gleaner/internal/text"
)

// phrases of one language's academic homepages.
type phrases struct {
	home, pubs, research, teaching, contact, role, interests, students string
}

var languages = map[string][]phrases{
	"en": {
		{"Home Page", "Publications", "Research", "Teaching", "Contact", "Associate Professor", "My research interests are", "Students"},
		{"Homepage", "Selected papers", "Research interests", "Courses", "How to reach me", "Assistant Professor", "I work on", "PhD students"},
		{"Website", "Papers", "About", "Classes", "Office", "Research Scientist", "I am interested in", "Group"},
		{"Academic page", "Writings", "Projects", "Lectures", "Address", "Postdoc", "My work concerns", "Alumni"},
	},
	"de": {{"Startseite", "Veröffentlichungen", "Forschung", "Lehre", "Kontakt", "Wissenschaftlicher Mitarbeiter", "Forschungsschwerpunkte", "Doktoranden"}},
	"fr": {{"Page personnelle", "Publications", "Recherche", "Enseignement", "Coordonnées", "Maître de conférences", "Thèmes de recherche", "Doctorants"}},
	"es": {{"Página personal", "Publicaciones", "Investigación", "Docencia", "Contacto", "Profesor titular", "Líneas de investigación", "Doctorandos"}},
	"pt": {{"Página pessoal", "Publicações", "Pesquisa", "Ensino", "Contato", "Professor adjunto", "Interesses de pesquisa", "Alunos"}},
	"it": {{"Pagina personale", "Pubblicazioni", "Ricerca", "Didattica", "Contatti", "Ricercatore", "Interessi di ricerca", "Dottorandi"}},
	"nl": {{"Persoonlijke pagina", "Publicaties", "Onderzoek", "Onderwijs", "Contact", "Universitair docent", "Onderzoeksinteresses", "Promovendi"}},
}

// view is what a homepage is made of.
type view struct {
	p     *person
	ph    phrases
	name  string
	title string
	list  string // publications, or "" when they stand on a page of their own
	pubs  string // address of that page
	style int
	mail  string
}

func esc(s string) string { return html.EscapeString(s) }

// renderHome makes a homepage in one of several styles.
func renderHome(r *rand.Rand, v view) string {
	p, f := v.p, fields[v.p.field]
	nav := ""
	if v.pubs != "" {
		nav = fmt.Sprintf(`<a href="%s">%s</a>`, v.pubs, v.ph.pubs)
	}
	intro := fmt.Sprintf("%s, %s, %s. %s %s, %s and %s.", v.ph.role, p.uni.dept, p.uni.name, v.ph.interests, f.area, pick(r, f.nouns), pick(r, f.aims))
	list := ""
	if v.list != "" {
		list = "<h2>" + v.ph.pubs + "</h2>" + v.list
	}
	title := "<title>" + esc(v.title) + "</title>"
	switch v.style {
	case 0: // by hand, of the nineties: no doctype, upper case, a rule
		return fmt.Sprintf("<HTML><HEAD>%s</HEAD><BODY BGCOLOR=white><H1>%s</H1><HR><P>%s<P>%s<P>%s <HR><ADDRESS>%s</ADDRESS></BODY></HTML>", title, esc(v.name), intro, nav, list, v.mail)
	case 1: // a generator's theme: the name in the bar, not in the heading
		return fmt.Sprintf(`<!doctype html><html lang="en"><head>%s<meta name="viewport" content="width=device-width"></head><body><nav><a class="brand" href="./">%s</a> %s <a href="#t">%s</a></nav><main><h2>%s</h2><p>%s</p>%s</main><footer>© 2019 %s %s</footer></body></html>`, title, esc(v.name), nav, v.ph.teaching, v.ph.research, intro, list, esc(v.name), v.mail)
	case 2: // a department's system: the university's bar, then the person
		return fmt.Sprintf(`<html><head>%s</head><body><div id="top"><a href="/">%s</a> | <a href="/people/">People</a> | <a href="/news/">News</a></div><div id="content"><h1>%s</h1><table><tr><td>%s</td></tr><tr><td>E-mail</td><td>%s</td></tr></table>%s %s </div></body></html>`, title, p.uni.name, esc(v.name), intro, v.mail, nav, list)
	case 3: // tables and pictures; the name is a picture's text
		return fmt.Sprintf(`<html><head>%s</head><body><table width="90%%"><tr><td><img src="me.jpg" alt="%s"></td><td><b>%s</b><br>%s<br>%s</td></tr></table>%s %s </body></html>`, title, esc(v.name), esc(v.name), intro, v.mail, nav, list)
	default: // one long sentence in the first person
		return fmt.Sprintf(`<!DOCTYPE html><html><head>%s</head><body><p>Hi! I'm %s, %s</p><ul><li>%s</li><li><a href="cv.pdf">CV</a></li></ul>%s <p>%s</p></body></html>`, title, esc(v.name), intro, nav, list, v.mail)
	}
}

// renderList makes a publication list: the given share of wanted papers, and
// others. Half of the entries link to a document.
func renderList(r *rand.Rand, p *person, shown string, share float64) string {
	var items []string
	add := func(t, by string) {
		if chance(r, 0.1) {
			t = strings.ToUpper(t)
		}
		link := esc(t)
		if chance(r, 0.5) {
			link = fmt.Sprintf(`<a href="papers/%s.pdf">%s</a>`, slug(t), esc(t))
		}
		items = append(items, pick(r, []string{link + ". " + esc(by), esc(by) + ": " + link, esc(by) + ". <i>" + link + "</i>", "“" + link + "”, with " + esc(by)}))
	}
	for _, w := range p.wanted {
		if chance(r, share) {
			var by []string
			for _, a := range w.Authors {
				n := a.Name
				if a.PID == p.author.PID {
					n = shown
				}
				by = append(by, n)
			}
			add(w.Title, strings.Join(by, ", "))
		}
	}
	for _, t := range p.others {
		by := shown
		if len(p.coAuthors) > 0 && chance(r, 0.6) {
			by += " and " + pick(r, p.coAuthors).fullName()
		}
		add(t, by)
	}
	r.Shuffle(len(items), func(a, b int) { items[a], items[b] = items[b], items[a] })
	return "<ul><li>" + strings.Join(items, "</li>\n<li>") + "</li></ul>"
}

func slug(s string) string {
	return strings.Trim(strings.ReplaceAll(ascii(text.Head(s, 30)), " ", "-"), "-")
}

// mailOf is an e-mail address as pages write it.
func mailOf(r *rand.Rand, p *person) string {
	domain := strings.TrimPrefix(p.uni.host, "www.")
	return pick(r, []string{
		fmt.Sprintf(`<a href="mailto:%s@%s">%s@%s</a>`, p.login, domain, p.login, domain),
		fmt.Sprintf("%s at %s", p.login, domain), fmt.Sprintf("%s [at] %s", p.login, domain), "",
	})
}

// shownName is how the person's own page writes the name, in a situation of its own.
func shownName(p *person, form string) string {
	switch form {
	case "initials":
		s := string([]rune(p.given)[0]) + ". "
		if p.middle != "" {
			s += p.middle + ". "
		}
		return s + p.last
	case "nickname":
		if n, ok := nickname[p.given]; ok {
			return n + " " + p.last
		}
	case "romanised":
		return romanised.Replace(p.fullName())
	case "swapped":
		return strings.ToUpper(p.last) + " " + p.given
	}
	return p.fullName()
}

// titleOf is the homepage's title: with the name, with the name's bearer's
// place, or saying nothing.
func titleOf(r *rand.Rand, p *person, ph phrases, name string, silent bool) string {
	if silent {
		return pick(r, []string{"", "Home", "Index", ph.home, "Welcome", "Untitled Document", p.uni.dept, "Welcome to my page!"})
	}
	return pick(r, []string{
		name, name + "'s " + ph.home, ph.home + " of " + name, name + " | " + p.uni.name, name + " - " + ph.home, "Home | " + name, p.uni.dept + ": " + name, ph.research + " · " + name,
	})
}
