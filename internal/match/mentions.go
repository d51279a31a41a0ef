package match

import (
	"bytes"
	"slices"
)

// Mentioned returns the keys of the papers whose title is (nearly) whole in a short text (an
// anchor, the words around a link), best first.
func (ix *Index) Mentioned(text string) []string {
	b := foldShort(make([]byte, 0, 640), text)
	var keys []string
	var al aligner
	for _, c := range ix.titles(b, 0, len(b), maxNamed) {
		t := ix.title(c.paper)
		slack := len(t)/8 + 8
		if bytes.Contains(b, t) || 10*al.align(t, b, c.at-slack, c.at+len(t)+slack, len(t)/10).edits <= len(t) {
			for _, i := range ix.alike(c.paper, maxNamed) {
				if key := ix.papers[i].Key; len(keys) < maxNamed && Unidentifiable(ix.papers[i]) == "" && !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}
