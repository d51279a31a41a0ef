package homepage

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/text"
)

func TestNameIn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		min, max   float64
	}{
		{"Jane Doe", "Jane Doe's Home Page", 1, 1},
		{"Jane Q. Doe", "Jane Doe", 1, 1},
		{"Jane Doe", "Jane Quentin Doe", nameLoose, 1},
		{"Jane Q. Doe", "Jane Z. Doe", 0, 0.5},
		{"Jane Doe", "Doe, Jane: publications", 0.9, 1},
		{"Jane Doe", "DOE Jane", 0.9, 1},
		{"Jane Doe", "J. Doe", nameInitials, nameInitials},
		{"Jane Doe", "John Doe", 0, nameSurname},
		{"Jane Doe", "Janet Doerr", 0, 0},
		{"Robert Caldwell", "Bob Caldwell", nameNick, nameNick},
		{"Alexander Vance", "Alex Vance", 0.7, nameLoose},
		{"Jürgen Müller", "Juergen Mueller", 0.7, 1},
		{"Jürgen Müller", "Jurgen Muller", 1, 1},
		{"Sergey Ivanov", "Сергей Иванов", 0.7, 1},
		{"Dmitry Zhukovsky", "Dmitri Zhukovskii", 0.6, 1},
		{"Xiao-Ling Wang", "Xiaoling Wang", 1, 1},
		{"Min-Jun Kim", "Kim Minjun", 0.9, 1},
		{"Willem van den Berg", "Willem van den Berg", 1, 1},
		{"Willem van den Berg", "W. van den Berg", nameInitials, nameInitials},
		{"José García Núñez", "Jose Garcia Nunez", 1, 1},
		{"Layla O'Brien", "Layla OBrien", 1, 1},
		{"Jean-Luc Péron", "J.-L. Péron", 0.5, nameLoose},
		{"Wei Wang 0001", "Wei Wang", 1, 1},
		{"J. Ross Osborne", "Ross Osborne", nameLoose, nameLoose},
	} {
		s, _ := parseName(displayName(tc.name)).in(text.Words(tc.text))
		assert.GreaterOrEqual(t, s, tc.min, "%s in %q", tc.name, tc.text)
		assert.LessOrEqual(t, s, tc.max, "%s in %q", tc.name, tc.text)
	}
}

func TestNameSaysOther(t *testing.T) {
	t.Parallel()
	n := parseName("Jane Doe")
	for title, want := range map[string]bool{"John Doe": true, "Home page of Doe": false, "Jane Doe and John Doe": false, "The Doe lab": false, "Doe, J.": false} {
		_, other := n.in(text.Words(title))
		assert.Equal(t, want, other, title)
	}
}

func TestNameInLabel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, label string
		min, max    float64
	}{
		{"Jane Doe", "janedoe", 1, 1},
		{"Jane Doe", "jane-doe.html", 1, 1},
		{"Jane Doe", "~jdoe", 0.8, 0.8},
		{"Jane Doe", "doej", 0.8, 0.8},
		{"Jane Whitfield", "whitfieldlab", nameInitials, 1},
		{"Jane Doe", "doel", 0, 0.5},
		{"Jane Doe", "jsmith", 0, 0},
		{"Willem van den Berg", "vandenberg", nameInitials, 1},
		{"Desmond Harris", "harrisd", 0.8, 0.8},
		{"Jörg Weiß", "joerg-weiss", 0.6, 1},
		{"Zhiyuan Liu", "~liuzy", 0.8, 0.8},
		{"Zhiyuan Liu", "zyliu", 0.8, 0.8},
		{"Xiaoqing Wu", "xqwu", 0.8, 0.8},
		{"Zhiyuan Liu", "liuzx", 0, nameSurname},
		{"Thomas Liu", "thliu", 0, nameSurname},
	} {
		s := parseName(tc.name).inLabel(tc.label)
		assert.GreaterOrEqual(t, s, tc.min, "%s in %q", tc.name, tc.label)
		assert.LessOrEqual(t, s, tc.max, "%s in %q", tc.name, tc.label)
	}
}

func TestSiteOf(t *testing.T) {
	t.Parallel()
	n := parseName("Jane Doe")
	for _, tc := range []struct {
		url, root string
		personal  bool
	}{
		{"http://cs.a.edu/~jdoe/papers/x.html", "http://cs.a.edu/~jdoe/", true},
		{"http://cs.a.edu/%7Ejdoe/", "http://cs.a.edu/%7Ejdoe/", true},
		{"http://jdoe.github.io/blog/1.html", "http://jdoe.github.io/", true},
		{"http://www.janedoe.org/pubs", "http://www.janedoe.org/", true},
		{"http://cs.a.edu/people/jane-doe/pubs.html", "http://cs.a.edu/people/jane-doe/", true},
		{"http://cs.a.edu/faculty/doe.html", "http://cs.a.edu/faculty/doe.html", true},
		{"http://cs.a.edu/doe/pubs.html", "http://cs.a.edu/doe/", true},
		{"http://cs.a.edu/news/5.html", "http://cs.a.edu/", false},
	} {
		root, personal := siteOf(parseURL(tc.url), n)
		assert.Equal(t, tc.personal, personal, tc.url)
		assert.Equal(t, tc.root, root, tc.url)
	}
}
