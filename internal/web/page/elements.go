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
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Caption, atom.Summary, atom.Legend:
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
	case atom.Template, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return roleHidden
	}
	return roleInline
}

// tags is a set of the elements that closedBy speaks of.
type tags uint32

const (
	tagA tags = 1 << iota
	tagP
	tagLi
	tagDt
	tagDd
	tagTr
	tagTd
	tagTh
	tagTbody
	tagOption
	tagHead
	tagHeading
	tagList
	tagTable
	tagSelect
	tagBody
	tagDiv
	tagObject
)

// tagOf has the bits of the elements that close others, or stop that.
var tagOf = map[atom.Atom]tags{
	atom.A: tagA, atom.P: tagP, atom.Option: tagOption, atom.Select: tagSelect, atom.Head: tagHead, atom.Body: tagBody,
	atom.Div: tagDiv, atom.Object: tagObject, atom.Li: tagLi, atom.Dt: tagDt, atom.Dd: tagDd,
	atom.Ul: tagList, atom.Ol: tagList, atom.Dl: tagList, atom.Menu: tagList, atom.Dir: tagList,
	atom.Table: tagTable, atom.Tbody: tagTbody, atom.Thead: tagTbody, atom.Tfoot: tagTbody,
	atom.Tr: tagTr, atom.Td: tagTd, atom.Th: tagTh,
	atom.H1: tagHeading, atom.H2: tagHeading, atom.H3: tagHeading,
	atom.H4: tagHeading, atom.H5: tagHeading, atom.H6: tagHeading,
}

// closedBy says which open elements a start tag closes by implication, and at
// which the search for them stops (HTML Standard, section 13.1.2.4).
func closedBy(a atom.Atom) (closes, stops tags) {
	const cell = tagTd | tagTh
	switch tagOf[a] {
	case tagA:
		return tagA, 0
	case tagLi:
		return tagLi | tagP, tagList | tagTable | cell | tagBody
	case tagDt, tagDd:
		return tagDt | tagDd | tagP, tagList | tagTable | cell | tagBody
	case tagTr:
		return tagTr | cell | tagP, tagTable | tagBody
	case tagTd, tagTh:
		return cell | tagP, tagTr | tagTable | tagBody
	case tagTbody:
		return tagTbody | tagTr | cell | tagP, tagTable | tagBody
	case tagOption:
		return tagOption, tagSelect | tagBody
	case tagBody:
		return tagHead, 0
	}
	if a == atom.Frameset {
		return tagHead, 0
	}
	r := roleOf(a)
	if r&roleHeading != 0 {
		return tagP | tagHeading, tagLi | cell | tagDd | tagDt | tagDiv | tagTable | tagBody | tagObject
	}
	if r&roleBlock != 0 {
		return tagP, tagLi | cell | tagDd | tagDt | tagDiv | tagTable | tagBody | tagObject
	}
	return 0, 0
}
