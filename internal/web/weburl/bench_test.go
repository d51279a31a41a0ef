package weburl_test

import (
	"testing"

	"gleaner/internal/web/weburl"
)

func BenchmarkCanonical(b *testing.B) {
	const base = "http://www.cs.example.edu/~ada/index.html"
	for name, ref := range map[string]string{
		"relative": "papers/2003/icml.html", "dots": "../../papers/icml.pdf", "query": "list.php?id=3&year=2003",
		"absolute": "https://proceedings.example.org/v22/ada12.html", "escaped": "http://a.org/%7Ejoe/my paper.pdf",
		"mail": "mailto:ada@example.edu",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = weburl.Canonical(base, ref)
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = weburl.Key("http://www.cs.example.edu/~ada/papers/index.html?b=1&a=2")
	}
}
