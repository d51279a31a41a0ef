package homepage

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed data/nicknames.txt
var nicknameLines string

// nicknameTable maps a name to the groups it belongs to.
type nicknameTable map[string][]int

var nicknames = readNicknames(nicknameLines)

// readNicknames reads one group of names that stand for each other a line.
func readNicknames(s string) nicknameTable {
	t := nicknameTable{}
	for i, line := range strings.Split(s, "\n") {
		for _, w := range strings.Fields(line) {
			t[w] = append(t[w], i)
		}
	}
	return t
}

func (t nicknameTable) same(a, b string) bool {
	return slices.ContainsFunc(t[a], func(i int) bool { return slices.Contains(t[b], i) })
}
