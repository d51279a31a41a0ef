// Package page understands an answer of a web server as a page: its character
// set, title, text, robots directives and, above all, its links with everything
// that helps to decide which of them leads to a paper. Parse never fetches.
//
// A page is read once, from front to back, by the tokenizer of golang.org/x/net/html and
// a stack of open elements, without a tree. Markup is cut as the HTML standard has it;
// whatever a limit cuts off is named in Page.Truncated. Texts of links (anchor, context,
// heading) are parts of the page's text, with which they share their memory.
//
// Walls and soft "not found" pages are named when the whole of a short page is
// one; a doubt counts for the page. ParseSitemap reads sitemaps and feeds.
package page
