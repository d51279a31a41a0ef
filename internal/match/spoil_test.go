package match_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/text"
)

// spoil turns a text into what a poor reader makes of it.
var spoil = map[string]func(string, *rand.Rand) string{
	"as read":   func(s string, _ *rand.Rand) string { return s },
	"no spaces": func(s string, _ *rand.Rand) string { return strings.NewReplacer(" ", "", "\t", "").Replace(s) },
	"no spaces, no lines": func(s string, _ *rand.Rand) string {
		return strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(s)
	},
	"no ligatures": func(s string, _ *rand.Rand) string {
		return strings.NewReplacer("ffi", "", "ffl", "", "ff", "", "fi", "", "fl", "", "ﬁ", "", "ﬂ", "", "ﬀ", "", "ﬃ", "", "ﬄ", "").Replace(s)
	},
	"1 % of letters changed": func(s string, r *rand.Rand) string {
		b := []byte(s)
		for i, c := range b {
			if (c|0x20) >= 'a' && (c|0x20) <= 'z' && r.IntN(100) == 0 {
				b[i] = byte('a' + r.IntN(26))
			}
		}
		return string(b)
	},
}

type score struct{ right, wrong, missed int }

func (s score) precision() float64 { return float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s score) recall() float64    { return float64(s.right) / float64(max(1, s.right+s.missed)) }

func isRight(row wantedRow, s sample) bool {
	if slices.Contains(row.sha256, s.sha256) {
		return true
	}
	for _, u := range row.urls {
		if plain, err := url.PathUnescape(u); err == nil && strings.TrimPrefix(strings.TrimPrefix(plain, "https://"), "http://") == strings.TrimPrefix(s.url, "http://") {
			return true
		}
	}
	return false
}

func ExampleNormalise() {
	fmt.Println(text.Normalise(`Erd&#337;s&#8211;R&eacute;nyi $\lambda$-graphs`))
	// Output: erdosrenyilambdagraphs
}
