package match_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
)

// TestTitlesThatNoDocumentCanBeToldBy, and titles that look like them.
func TestTitlesThatNoDocumentCanBeToldBy(t *testing.T) {
	t.Parallel()
	authors := by("Satyen Kale", "Ohad Shamir")
	for why, titles := range map[string][]string{
		"it has no title": {"", "  ", "?", "12–34"},
		"many works are called so": {"Preface", "PREFACE.", "Author Index", "Author Index 2003", "Editorial, Vol. 12 (3)", "Front Matter", "Editor's Note", "Introduction to the Special Issue", "Vorwort", "Inhaltsverzeichnis", "Préface",
			"Table des matières", "Avant-propos", "Índice", "Prólogo", "Introduzione", "Przedmowa", "Предисловие", "Передмова", "前言", "はじめに", "머리말", "<i>Introduction</i>"},
		"its title is a list of names": {"Satyen Kale, Ohad Shamir", "and Ohad Shamir", "J. Ding, L. Hughes, A. Fulmer, and P. S. Schnable", "A. Müller und B. van der Berg",
			"Ahmed El Alaoui, Xiang Cheng, Aaditya Ramdas, Martin J. Wainwright"},
		"its title is a sentence out of a text": {
			"is a family of nonuniformly expanding maps, and prove averaging and rates of averaging for the slow variables",
			"A matroid base polytope is a polytope in which each vertex has coordinates and each edge is parallel to a difference of two vectors",
			"The second part of the lecture, where we prove the main theorem for compact manifolds of any dimension",
			"We study a question that has been open for a long time and answer it for …",
			"In dieser Arbeit wird das Verhalten von Märkten unter Unsicherheit an drei Beispielen untersucht",
			"Nel capitolo seguente dimostriamo che la successione delle medie converge quasi certamente al limite cercato"},
		"": {"Graph Isomorphism is in SPP", "You and Your Research", "Attention is all you need", "Paxos", "A", "Introduction to Algorithms", "Business and Politics", "Preface to Plato's Republic",
			"Random Forests, Decision Trees, and Neural Networks", "Ada Lovelace, Mathematician", "U.S. and E.U. Policy", "E. coli and S. aureus", "Editorial: What Libraries Want",
			"Open Problem: Kernel methods on manifolds and metric spaces. What is the probability of a positive definite geodesic exponential kernel?",
			"is it possible to learn what we show to those who never asked us to be taught anything?",
			"Web crawler system using plurality of parallel priority level queues having distinct associated download priority levels for prioritizing document downloading"},
	} {
		for _, title := range titles {
			require.Equal(t, why, match.Unidentifiable(gleaner.Paper{Title: title, Authors: authors}), "%q", title)
		}
	}
}

// TestPrefacesAreNotMatchedLoosely: a document called so is one only over all of its
// authors, and a link called so leads to none.
func TestPrefacesAreNotMatchedLoosely(t *testing.T) {
	t.Parallel()
	ix := match.NewIndex([]gleaner.Paper{{Key: "p", Title: "Introduction to the Special Issue", Authors: []gleaner.Author{{Name: "Jane Roe"}, {Name: "Ada Poe"}}}})
	body := "\n\nAbstract\n" + strings.Repeat("We show that the method works and compare it with others on many pages. ", 20)
	of := func(names string) []match.Match {
		return ix.Document(match.Evidence{FirstPages: "Introduction to the Special Issue\n\n" + names + body, Anchor: "Introduction to the Special Issue"})
	}
	require.Len(t, of("Jane Roe and Ada Poe"), 1)
	require.True(t, of("Jane Roe and Ada Poe")[0].Taken())
	require.Empty(t, of("Jane Roe and John Doe"))
	require.Empty(t, of("Jane Roe"))
	require.Zero(t, ix.Likeness("Introduction to the special issue"))
	require.Empty(t, ix.Mentioned("Introduction to the special issue"))
}

// TestTitlesOfRealPapersCanBeToldBy: of the titles that stand over real documents
// hardly one is called none.
func TestTitlesOfRealPapersCanBeToldBy(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"truth", "atlas-truth"} {
		n, none := 0, 0
		for _, row := range realdata.Table(t, folder, "papers.tsv") {
			p := gleaner.Paper{Title: row["title"], Authors: by(strings.Split(row["authors"], "; ")...)}
			n++
			if why := match.Unidentifiable(p); why != "" {
				none++
				t.Logf("%s: %q", why, row["title"])
			}
		}
		t.Logf("%s: %d of %d titles", folder, none, n)
		require.LessOrEqual(t, 200*none, n)
	}
}
