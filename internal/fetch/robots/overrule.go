package robots

import (
	"bytes"
	"slices"

	"github.com/temoto/robotstxt"
)

// overrule is a case in which robotstxt differs from RFC 9309, or from what servers and
// authors mean, and its answer for the file as it stands is not taken.
type overrule struct {
	why string
	// at reports whether the group decides about a path itself. It is nil if the group is
	// written so that the library reads it rightly, or if more than one path is asked.
	at func(g *group, path string) bool

	// An example: the library's answer about path to the agent "gleaner" is another.
	file, path string
	allowed    bool
}

// overrules are all such cases. In every other case the library decides.
var overrules = []overrule{
	{
		why:  "robots.txt itself is allowed (RFC 9309, section 2.2.2)",
		at:   func(_ *group, path string) bool { return path == "/robots.txt" },
		file: "User-agent: *\nDisallow: /\n", path: "/robots.txt", allowed: true,
	}, {
		why:  "the pattern of the most octets decides (2.2.2), not the longest regular expression",
		at:   func(g *group, _ string) bool { return g.wildcard },
		file: "User-agent: *\nAllow: /page.h\nDisallow: /*.htm\n", path: "/page.html", allowed: true,
	}, {
		why:  "Allow wins over a Disallow of as many octets (2.2.2)",
		file: "User-agent: *\nDisallow: /a\nAllow: /a\n", path: "/a", allowed: true,
	}, {
		why:  "an octet is the same percent-encoded or not (2.2.2)",
		file: "User-agent: *\nDisallow: /%7Eann/\n", path: "/~ann/", allowed: false,
	}, {
		why:  "a group is for whole product tokens (2.2.1)",
		file: "User-agent: glean\nDisallow: /\n", path: "/a", allowed: true,
	}, {
		why:  "a line that cannot be read costs itself, not the file (2.2.4)",
		file: "User-agent: *\nCrawl-delay: soon\nDisallow: /a\n", path: "/a",
	}, {
		why:  "authors misspell",
		file: "User-agent: *\nDissalow: /a\n", path: "/a",
	}, {
		why:  "a directory is its index page",
		file: "User-agent: *\nAllow: /d/index.html\nDisallow: /\n", path: "/d/", allowed: true,
	}, {
		why:  "servers take many slashes for one",
		file: "User-agent: *\nDisallow: /a/\n", path: "//a/b",
	}, {
		why:  "editors write UTF-16",
		file: "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00", path: "/a",
	},
}

// overruled reports whether the group decides about a path instead of the library.
func (g *group) overruled(path string) bool {
	return slices.ContainsFunc(overrules, func(o overrule) bool { return o.at != nil && o.at(g, path) })
}

// library returns the group as the library has it: for every agent, Allow first, paths in
// one encoding. It leaves out patterns with wildcards.
func (g *group) library() *robotstxt.Group {
	if len(g.rules) == 0 {
		return nil
	}
	b := bytes.NewBufferString("User-agent: *\n")
	for _, allow := range []bool{true, false} {
		for i := range g.rules {
			switch r := &g.rules[i]; {
			case r.allow != allow || !r.plain():
			case allow:
				b.WriteString("Allow: " + r.parts[0] + "\n")
			default:
				b.WriteString("Disallow: " + r.parts[0] + "\n")
			}
		}
	}
	lib, err := robotstxt.FromBytes(b.Bytes())
	if err != nil {
		return nil
	}
	return lib.FindGroup("*")
}
