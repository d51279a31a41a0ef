package sampleweb

import "fmt"

const (
	thicketLinks     = 50
	thicketBranching = 5   // links that go on to pages not linked before
	thicketDirectory = 100 // pages
)

// Thicket makes so many pages by their paths, for measuring speed: a tree with further links
// across. Of the links of each, so many lead to files on another host.
func Thicket(pages, files int) map[string][]byte {
	all := make(map[string][]byte, pages)
	for i := range pages {
		all[thicketPath(i)] = ThicketPage(i, pages, files)
	}
	return all
}

// ThicketStart is the path of the page from which all others are reached.
const ThicketStart = "/d0/page0.html"

func thicketPath(i int) string { return fmt.Sprintf("/d%d/page%d.html", i/thicketDirectory, i) }

// ThicketPage is page i of n, of some 9 KB with 50 links: a menu that every page has, and paragraphs with links, so
// many of them to files on another host, as a page of publications has.
func ThicketPage(i, n, files int) []byte {
	r := Options{Seed: 1}.random(fmt.Sprint("thicket ", i))
	d := bareDoc(fmt.Sprintf("Page %d: %s", i, title(r)), "\n<link rel=\"stylesheet\" href=\"/style.css\">")
	links := 0
	link := func(to int) {
		links++
		d.link(thicketPath(to%n), pick(r, adjectives)+" "+pick(r, things))
	}
	d.f("<body><ul class=nav>")
	for to := range 10 {
		d.f("<li>")
		link(to)
		d.f("</li>")
	}
	d.f("</ul>\n<h1>%s</h1>\n", title(r))
	for k := range thicketBranching {
		d.f("<h2>%s</h2><p>%s ", title(r), paragraph(r, 2))
		link(i*thicketBranching + k + 1)
		d.f(" %s</p>\n", paragraph(r, 2))
	}
	d.f("<ul>\n")
	for links < thicketLinks {
		d.f("<li>")
		if to := r.IntN(n); links < thicketLinks-files {
			link(to)
		} else {
			links++
			d.link(fmt.Sprintf("http://files.example.org/d%d/paper%d.pdf", to/thicketDirectory, to), pick(r, adjectives)+" "+pick(r, things))
		}
		d.f(", %s <em>%s</em></li>\n", title(r), pick(r, topics))
	}
	d.f("</ul>")
	d.p(paragraph(r, 16))
	return d.bytes()
}
