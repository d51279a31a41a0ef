package sampleweb

import (
	"fmt"
	"strings"
)

// spinningPS keeps an interpreter busy for as long as it is let.
func spinningPS() []byte {
	return []byte("%!PS-Adobe-3.0\n%%Pages: 1\n%%EndComments\n{ } loop\nshowpage\n%%EOF\n")
}

// hungryPS wants ever more memory, and dies of it.
func hungryPS() []byte {
	return []byte("%!PS-Adobe-3.0\n%%Pages: 1\n%%EndComments\n[ { 60000 string } loop\nshowpage\n%%EOF\n")
}

// spinningPDF is a page with a form that draws another ten times, and so on, twelve
// deep: a reader that follows has 10¹² to draw.
func spinningPDF() []byte {
	const page = "/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>"
	b := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R" + page + ">>endobj\n4 0 obj<</Length 5>>stream\n/F Do\nendstream endobj\n"
	draws := strings.Repeat("/F Do ", 10)
	for i := range 12 {
		b += fmt.Sprintf("%d 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</F %d 0 R>>>>/Length %d>>stream\n%s\nendstream endobj\n",
			5+i, 6+i, len(draws), draws)
	}
	b += "17 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Length 5>>stream\n0 0 m\nendstream endobj\n"
	return []byte(b + "trailer<</Size 18/Root 1 0 R>>\n%%EOF\n")
}

// nestedPDF nests deeper than a reader's stack is high.
func nestedPDF() []byte {
	return []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]/Count 2147483647>>endobj\ntrailer<</Root 1 0 R/Prev 0>>\n" + strings.Repeat("[", 1<<20))
}

// poisons are files that their readers suffer from, by name, with what becomes of
// each (internal/document's outcomes).
var poisons = []struct {
	name, outcome string
	body          func() []byte
}{
	{"spinning.ps", "timeout", spinningPS}, {"spinning.pdf", "timeout", spinningPDF},
	{"hungry.ps", "too-large", hungryPS}, {"nested.pdf", "truncated", nestedPDF},
}

// Poisons says what becomes of each file of the poisonous site, by its URL.
func Poisons() map[string]string {
	out := map[string]string{}
	for _, p := range poisons {
		out["http://poison"+hostileDomain+"/"+p.name] = p.outcome
	}
	return out
}
