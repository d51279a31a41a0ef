package page

import "golang.org/x/net/html/atom"

// Lines returns the title of a page and its visible text, with a line for each block and
// each row of a table. It stops after the given number of bytes of text.
func Lines(contentType string, body []byte, limit int) (title, text string) {
	source, _ := decode(contentType, body)
	s := newScanner(source, false)
	var out []byte
	var line textBuffer
	for len(out)+len(line.buf) < limit {
		switch k := s.next(); {
		case k == endOfInput:
			return title, string(append(out, line.buf...))
		case k == textToken:
			line.write(s.text)
		case k == rawText:
			if s.atom == atom.Title && title == "" {
				title = folded(s.text)
			}
		case s.atom == atom.Td || s.atom == atom.Th:
			line.breakLine()
		case s.atom == atom.Br || roleOf(s.atom)&roleBlock != 0:
			if len(line.buf) > 0 {
				out = append(append(out, line.buf...), '\n')
			}
			line = textBuffer{buf: line.buf[:0]}
		}
	}
	return title, string(append(out, line.buf...))
}
