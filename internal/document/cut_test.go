package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// wholes are documents as people make them, of each kind that is read.
func wholes(tb testing.TB) map[string][]byte {
	tb.Helper()
	paper := paperPDF(tb, 3)
	text := "Harvesting the Missing Papers by Patience\nAda Example\nUniversity of Somewhere\n\nAbstract. We wait.\n\n1 Introduction\n" + paragraph(1, 6) +
		"\n\fReferences\n[1] A. Writer. A study of it-\nems. In Proc. 1999, pp. 1–9.\n[2] B. Other. Œuvres. 2001.\n"
	return map[string][]byte{
		"paper.pdf":  paper,
		"paper.gz":   packtest.Gzip(paper),
		"paper.txt":  []byte(text),
		"paper.html": []byte("<!doctype html><title>Patience</title><h1>Harvesting</h1><h2>Abstract</h2><p>We &amp; wait&#8230;</p><script>'</p>'</script><h2>References</h2><ol><li>A. Writer</ol>"),
		"paper.tex":  []byte(`\documentclass{article}\title{Harvesting \emph{by} Patience}\begin{document}\maketitle\begin{abstract}We \"{u}se it.\end{abstract}\section{One}\cite{a,b}$x_{1}$%` + "\n" + `\begin{thebibliography}{9}\bibitem{a} A.\end{thebibliography}\end{document}`),
		"paper.xml":  []byte(`<?xml version="1.0"?><article><front><article-title>Patience</article-title><abstract><p>We wait.</p></abstract></front><body><sec><title>One</title><p>A&#x301; &amp; b</p></sec></body><back><ref-list><ref>A. Writer</ref></ref-list></back></article>`),
		"layout.xml": []byte("<doc><page width=\"612.0\" height=\"792.0\"><block><line><word xMin=\"72.0\" yMin=\"72.0\" xMax=\"90.0\" yMax=\"84.0\">Patience</word></line></block></page></doc>"),
	}
}

// TestDocumentsCutAnywhere: what breaks off, or begins late, at every byte (of files
// longer than a screen at some, with -short at fewer) is read to an end.
func TestDocumentsCutAnywhere(t *testing.T) {
	t.Parallel()
	cuts, files := 600, 25 // texts in this process, files in readers' processes
	if testing.Short() {
		cuts, files = 150, 6
	}
	for name, body := range wholes(t) {
		step := 1 + len(body)/cuts
		for cut := 0; cut < len(body); cut += step {
			digest(body[:cut])
			digest(body[cut:])
		}
		if !strings.HasSuffix(name, ".pdf") {
			continue
		}
		for cut := 0; cut < len(body); cut += 1 + len(body)/files {
			for _, part := range [][]byte{body[:cut], body[cut:], append(body[:cut:cut], body[(cut+len(body))/2:]...)} {
				require.NotEmpty(t, read(t, NewReader(goOnly()), name, part).Outcome)
			}
		}
	}
}
