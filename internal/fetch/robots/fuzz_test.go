package robots

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agree checks that the library and this package decide plain rules alike: two
// readings of one file must not differ.
func agree(rules *Rules) error {
	g := rules.group
	if g == nil || g.lib == nil || g.wildcard {
		return nil
	}
	for i := range g.rules {
		for _, path := range []string{g.rules[i].parts[0], g.rules[i].parts[0] + "x", "/" + g.rules[i].parts[0]} {
			best := decide(g.rules, path, path)
			own := best == nil || best.allow
			if lib := g.lib.Test(path); lib != own {
				return fmt.Errorf("path %q: library %v, own %v", path, lib, own)
			}
		}
	}
	return nil
}

func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%7Ejoe/\nCrawl-delay: 1.5\nSitemap: /s.xml\n", "/~joe/a?b=c%2f")
	f.Add("\xEF\xBB\xBFuser-agent gleaner\rdisallow /x y\r\nallow: /x%zz\n", "x%")
	f.Add("User-agent: *\nDisallow: /"+strings.Repeat("*a", 50)+"$\n", "/"+strings.Repeat("a", 100))
	for _, worst := range worstFiles {
		f.Add(string(worst(256)), "/a")
	}
	f.Fuzz(func(t *testing.T, file, path string) {
		for _, agent := range []string{"gleaner", "*", ""} {
			rules := Parse([]byte(file), agent)
			if len(rules.group.list()) <= 1000 { // agree is quadratic
				require.NoError(t, agree(rules))
			}
			allowed, rule := rules.Allowed(path)
			assert.False(t, !allowed && !strings.HasPrefix(rule, "Disallow: "), rule)
			if rules.CrawlDelay() < 0 {
				t.Error("negative delay")
			}
			require.GreaterOrEqual(t, rules.Size(), 0)
			assert.LessOrEqual(t, rules.Size(), 100*(len(file)+1))
		}
	})
}

// list are the rules of a group that may be none.
func (g *group) list() []rule {
	if g == nil {
		return nil
	}
	return g.rules
}
