package match

import "bytes"

// Mentioned returns the keys of the papers whose title stands in a short text
// (an anchor, the words around a link), whole or nearly so, best first.
func (ix *Index) Mentioned(text string) []string {
	var b []byte
	for i := 0; i < len(text) && len(b) < 600; {
		var n int
		b, n = appendFolded(b, text[i:])
		i += n
	}
	b, _ = dropLigatures(b, nil)
	var keys []string
	var al aligner
	for _, c := range ix.candidates(b, 0, len(b), 8) {
		t := ix.title(c.paper)
		slack := len(t)/8 + 8
		if bytes.Contains(b, t) || 10*al.align(t, b, c.at-slack, c.at+len(t)+slack).edits <= len(t) {
			keys = append(keys, ix.papers[c.paper].Key)
		}
	}
	return keys
}
