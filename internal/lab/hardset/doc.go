// Package hardset makes a web on which finding homepages is hard, with the
// truth beside it: namesakes (researchers and others), homepages that moved or
// died, portals and publishers on top, co-authors' pages that list the same
// papers, inner pages in the homepage's stead, frames, other languages,
// initials, nicknames, romanisations and swapped names, project sites that
// stand for a person, and people without any page.
//
// Generate is deterministic in its seed. Each seed draws its own subset of the
// pools of names, words and page styles, so that what was learnt on some seeds
// is tested on webs that look different. It is searched by the sample web's Index.
// Everything lives under reserved names
// (.example, or hosts that never are asked): nothing is ever fetched from
// outside.
package hardset
