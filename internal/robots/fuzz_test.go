package robots

import (
	"fmt"
	"strings"
	"testing"
)

// agree checks that the library and this package decide plain rules alike: two
// readings of one file must not differ.
func agree(rules *Rules) error {
	for token, g := range rules.doc.groups {
		if g.lib == nil || !g.allPlain() {
			continue
		}
		for i := range g.rules {
			for _, path := range []string{g.rules[i].parts[0], g.rules[i].parts[0] + "x", "/" + g.rules[i].parts[0]} {
				best := decide(g.rules, path, path)
				own := best == nil || best.allow
				if lib := g.lib.Test(path); lib != own {
					return fmt.Errorf("group %q, path %q: library %v, own %v", token, path, lib, own)
				}
			}
		}
	}
	return nil
}

func FuzzParse(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%7Ejoe/\nCrawl-delay: 1.5\nSitemap: /s.xml\n", "/~joe/a?b=c%2f")
	f.Add("\xEF\xBB\xBFuser-agent gleaner\rdisallow /x y\r\nallow: /x%zz\n", "x%")
	f.Add("User-agent: *\nDisallow: /"+strings.Repeat("*a", 50)+"$\n", "/"+strings.Repeat("a", 100))
	f.Fuzz(func(t *testing.T, file, path string) {
		rules := Parse([]byte(file))
		if err := agree(rules); err != nil {
			t.Error(err)
		}
		for _, agent := range []string{"gleaner", "*", ""} {
			allowed, rule := rules.Allowed(agent, path)
			if !allowed && !strings.HasPrefix(rule, "Disallow: ") {
				t.Errorf("denied by %q", rule)
			}
			if rules.CrawlDelay(agent) < 0 {
				t.Error("negative delay")
			}
		}
		// Reading the clean file again must not change the plain rules.
		again := Parse(rules.doc.clean())
		for token, g := range rules.doc.groups {
			if h := again.doc.groups[token]; g.allPlain() && h != nil && len(h.rules) != len(g.rules) {
				t.Errorf("group %q: %d rules, %d after cleaning", token, len(g.rules), len(h.rules))
			}
		}
		_ = rules.Sitemaps()
	})
}

func BenchmarkAllowed(b *testing.B) {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := range 200 {
		fmt.Fprintf(&file, "Disallow: /private/%d/\n", i)
	}
	plain := Parse([]byte(file.String()))
	file.WriteString("Disallow: /*.cgi$\n")
	wild := Parse([]byte(file.String()))
	for name, rules := range map[string]*Rules{"plain": plain, "wildcards": wild} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rules.Allowed("gleaner", "/~joe/papers/paper.pdf")
			}
		})
	}
}
