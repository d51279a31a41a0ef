package metadata

import (
	"strings"

	"gleaner/internal/web/weburl"
)

// profileHosts are portals to which catalogues of people link, with the kind of
// each: identifier registries, catalogues, social networks. What stands there is
// about a person, but not theirs. The list has no end; what is missing from it is
// caught later, when the page itself is looked at.
var profileHosts = map[string]string{
	"orcid.org":                     "orcid",
	"semanticscholar.org":           "s2",
	"wikidata.org":                  "wikidata",
	"wikipedia.org":                 "wikipedia",
	"dl.acm.org":                    "acm",
	"portal.acm.org":                "acm",
	"awards.acm.org":                "acm-award",
	"amturing.acm.org":              "turing",
	"ieeexplore.ieee.org":           "ieee",
	"researcherid.com":              "researcherid",
	"webofscience.com":              "researcherid",
	"publons.com":                   "researcherid",
	"scopus.com":                    "scopus",
	"researchgate.net":              "researchgate",
	"academia.edu":                  "academia",
	"genealogy.math.ndsu.nodak.edu": "mathgenealogy",
	"mathgenealogy.org":             "mathgenealogy",
	"genealogy.ams.org":             "mathgenealogy",
	"mathscinet.ams.org":            "mathscinet",
	"zbmath.org":                    "zbmath",
	"viaf.org":                      "viaf",
	"isni.org":                      "isni",
	"d-nb.info":                     "gnd",
	"id.loc.gov":                    "loc",
	"data.bnf.fr":                   "bnf",
	"idref.fr":                      "idref",
	"cv.archives-ouvertes.fr":       "hal",
	"cv.hal.science":                "hal",
	"openalex.org":                  "openalex",
	"openreview.net":                "openreview",
	"dblp.org":                      "dblp",
	"dblp.uni-trier.de":             "dblp",
	"arxiv.org":                     "arxiv",
	"aclanthology.org":              "acl",
	"aminer.org":                    "aminer",
	"aminer.cn":                     "aminer",
	"lattes.cnpq.br":                "lattes",
	"ci.nii.ac.jp":                  "cinii",
	"cir.nii.ac.jp":                 "cinii",
	"nrid.nii.ac.jp":                "kaken",
	"researchmap.jp":                "researchmap",
	"csauthors.net":                 "csauthors",
	"loop.frontiersin.org":          "loop",
	"mendeley.com":                  "mendeley",
	"gepris.dfg.de":                 "gepris",
	"linkedin.com":                  "linkedin",
	"xing.com":                      "xing",
	"twitter.com":                   "twitter",
	"x.com":                         "twitter",
	"bsky.app":                      "bluesky",
	"mastodon.social":               "mastodon",
	"facebook.com":                  "facebook",
	"instagram.com":                 "instagram",
	"youtube.com":                   "youtube",
	"github.com":                    "github",
	"gitlab.com":                    "gitlab",
	"stackoverflow.com":             "stackoverflow",
	"stackexchange.com":             "stackexchange",
	"web.archive.org":               "web-archive",
}

// profileKind names the portal on which an address is a profile ("orcid",
// "scholar", …), or "" for one that may be a homepage.
func profileKind(addr string) string {
	host := strings.TrimPrefix(weburl.Host(addr), "www.")
	// Google Scholar answers under the domains of many countries.
	if strings.HasPrefix(host, "scholar.google.") {
		return "scholar"
	}
	for name := host; name != ""; _, name, _ = strings.Cut(name, ".") {
		if kind, ok := profileHosts[name]; ok {
			return kind
		}
	}
	return ""
}
