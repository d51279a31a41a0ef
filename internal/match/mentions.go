package match

import "bytes"

// Mentioned returns the keys of the papers whose title stands in a short text
// (an anchor, the words around a link), whole or nearly so, best first.
func (ix *Index) Mentioned(text string) []string {
	b := foldShort(make([]byte, 0, 640), text)
	var keys []string
	var al aligner
	for _, c := range ix.candidates(b, 0, len(b), 8) {
		if Untellable(ix.papers[c.paper]) != "" {
			continue
		}
		t := ix.title(c.paper)
		slack := len(t)/8 + 8
		if bytes.Contains(b, t) || 10*al.align(t, b, c.at-slack, c.at+len(t)+slack, len(t)/10).edits <= len(t) {
			keys = append(keys, ix.papers[c.paper].Key)
		}
	}
	return keys
}
