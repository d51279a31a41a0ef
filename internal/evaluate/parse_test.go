package evaluate

import (
	"bytes"
	"net/http"
	"strings"

	"golang.org/x/net/html"

	"gleaner/internal/page"
	"gleaner/internal/weburl"
)

// parseTiny is as much of a page parser as the tests of this package need.
func parseTiny(pageURL string, _ http.Header, body []byte) (*page.Page, error) {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	p := &page.Page{URL: pageURL, Base: pageURL, Meta: map[string]string{}}
	heading := ""
	fold := func(s string, n int) string {
		s = strings.Join(strings.Fields(s), " ")
		if len(s) > n {
			s = s[:n]
		}
		return s
	}
	var textOf func(n *html.Node) string
	textOf = func(n *html.Node) string {
		if n.Type == html.TextNode {
			return n.Data + " "
		}
		if n.Data == "script" || n.Data == "style" {
			return ""
		}
		var b strings.Builder
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			b.WriteString(textOf(c))
		}
		if n.Data == "img" {
			b.WriteString(attr(n, "alt"))
		}
		return b.String()
	}
	add := func(n *html.Node, ref, tagPath string, src page.Source) {
		u, err := weburl.Canonical(p.Base, ref)
		if err != nil {
			return
		}
		l := page.Link{URL: u, Anchor: fold(textOf(n), 300), Heading: fold(heading, 120), TagPath: tagPath, Position: len(p.Links), Source: src}
		for b := n.Parent; b != nil; b = b.Parent {
			if b.Data == "li" || b.Data == "p" || b.Data == "td" || b.Data == "dd" || b.Data == "div" || b.Data == "body" {
				l.Context = fold(textOf(b), 500)
				break
			}
		}
		p.Links = append(p.Links, l)
	}
	var walk func(n *html.Node, path string)
	walk = func(n *html.Node, path string) {
		if n.Type == html.ElementNode {
			step := n.Data
			if id := attr(n, "id"); id != "" {
				step += "#" + id
			}
			for _, c := range strings.Fields(attr(n, "class")) {
				step += "." + c
			}
			path += ">" + step
			switch n.Data {
			case "base":
				if u, err := weburl.Canonical(pageURL, attr(n, "href")); err == nil {
					p.Base = u
				}
			case "title":
				p.Title = fold(textOf(n), 300)
			case "h1", "h2", "h3", "h4":
				heading = fold(textOf(n), 120)
				p.Headings = append(p.Headings, heading)
			case "a", "area":
				if h := attr(n, "href"); h != "" {
					add(n, h, path, page.SourceAnchor)
				}
			case "frame", "iframe":
				if h := attr(n, "src"); h != "" {
					add(n, h, path, page.SourceFrame)
				}
			case "link":
				if attr(n, "rel") == "alternate" {
					add(n, attr(n, "href"), path, page.SourceAlternate)
				}
			case "meta":
				if _, u, ok := strings.Cut(strings.ToLower(attr(n, "content")), "url="); ok && strings.EqualFold(attr(n, "http-equiv"), "refresh") {
					add(n, strings.Trim(attr(n, "content")[len(attr(n, "content"))-len(u):], "'\" "), path, page.SourceRefresh)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, path)
		}
	}
	walk(root, "")
	return p, nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
