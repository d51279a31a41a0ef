package page

import "golang.org/x/net/html/atom"

// role is what an element does to the text and the structure around it.
type role uint8

const (
	roleBlock  role = 1 << iota // breaks the line
	roleItem                    // one entry of a list of papers, as a rule
	roleVoid                    // has no content
	roleInline                  // formats text
	roleHidden                  // its text is not seen
	roleHeading
)

// roleOf gives the roles of an element (HTML Standard, sections 13.1.2 and
// 15.3, and the old elements that academic pages still have).
func roleOf(a atom.Atom) role {
	switch a {
	case atom.Li, atom.Tr, atom.P, atom.Dt, atom.Dd:
		return roleBlock | roleItem
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return roleBlock | roleHeading
	case atom.Caption, atom.Summary, atom.Legend:
		return roleBlock | roleHeading
	case atom.Html, atom.Head, atom.Body, atom.Div, atom.Section, atom.Article, atom.Aside, atom.Nav, atom.Header,
		atom.Footer, atom.Main, atom.Address, atom.Blockquote, atom.Center, atom.Pre, atom.Ul, atom.Ol, atom.Dl,
		atom.Dir, atom.Menu, atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Td, atom.Th, atom.Form,
		atom.Fieldset, atom.Figure, atom.Figcaption, atom.Details, atom.Hgroup, atom.Search, atom.Noscript,
		atom.Frameset, atom.Noframes, atom.Iframe, atom.Object, atom.Listing, atom.Optgroup, atom.Option, atom.Select:
		return roleBlock
	case atom.Hr:
		return roleBlock | roleVoid
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param,
		atom.Source, atom.Track, atom.Wbr, atom.Frame, atom.Basefont, atom.Bgsound, atom.Keygen, atom.Isindex:
		return roleVoid
	case atom.Template:
		return roleHidden
	case atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return roleHidden
	}
	return roleInline
}

// closedBy says which open elements a start tag closes by implication, and at
// which the search for them stops (HTML Standard, section 13.1.2.4).
func closedBy(a atom.Atom) (closes, stops []atom.Atom) {
	switch a {
	case atom.Li:
		return closesLi, listElements
	case atom.Dt, atom.Dd:
		return closesDd, listElements
	case atom.Tr:
		return closesTr, tableElements
	case atom.Td, atom.Th:
		return closesTd, rowElements
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return closesBody, tableElements
	case atom.Option:
		return closesOption, selectElements
	case atom.Body, atom.Frameset:
		return closesHead, nil
	case atom.A:
		return closesA, nil
	}
	if r := roleOf(a); r&roleBlock != 0 {
		return closesP, scopeElements
	}
	return nil, nil
}

// The lists of closedBy. They are never written to.
var (
	closesLi       = []atom.Atom{atom.Li, atom.P}
	closesDd       = []atom.Atom{atom.Dt, atom.Dd, atom.P}
	closesTr       = []atom.Atom{atom.Tr, atom.Td, atom.Th, atom.P}
	closesTd       = []atom.Atom{atom.Td, atom.Th, atom.P}
	closesBody     = []atom.Atom{atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.P}
	closesOption   = []atom.Atom{atom.Option}
	closesA        = []atom.Atom{atom.A}
	closesHead     = []atom.Atom{atom.Head}
	closesP        = []atom.Atom{atom.P}
	listElements   = []atom.Atom{atom.Ul, atom.Ol, atom.Dl, atom.Menu, atom.Dir, atom.Table, atom.Td, atom.Th, atom.Body}
	tableElements  = []atom.Atom{atom.Table, atom.Body}
	rowElements    = []atom.Atom{atom.Tr, atom.Table, atom.Body}
	selectElements = []atom.Atom{atom.Select, atom.Body}
	scopeElements  = []atom.Atom{atom.Li, atom.Td, atom.Th, atom.Dd, atom.Dt, atom.Div, atom.Table, atom.Body, atom.Object}
)
