package match_test

import (
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/match"
	"gleaner/internal/text"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// TestMatchesOnRecordedSites matches every document of the recorded sites, with the
// words of the links to it, and counts the wanted papers whose document was taken for
// them (right), only asks a person (ambiguous) or was passed over (missed), and the
// documents taken for a paper that they are not (wrong).
func TestMatchesOnRecordedSites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sites, truth string
		right        int // at least
		ambiguous    int // at most
		wrong        int // at most
	}{{"farm", "truth", 356, 6, 0}, {"atlas", "atlas-truth", 866, 41, 5}} {
		t.Run(c.sites, func(t *testing.T) {
			t.Parallel()
			rows, samples := wantedPapers(t, c.truth), recordedTexts(t, c.sites)
			links, owners := linksTo(t, c.sites), ownersOf(t, c.truth)
			ix := match.NewIndex(papersOf(rows))
			best := map[string]match.Verdict{}
			wrong := 0
			for _, s := range samples {
				for key, m := range surest(ix, s, links[keyOf(strings.ReplaceAll(s.url, "%", "%25"))], owners[weburl.Host(s.url)]) {
					row := rows[slices.IndexFunc(rows, func(r wantedRow) bool { return r.paper.Key == key })]
					switch {
					case isRight(row, s):
						if was, ok := best[key]; !ok || m.Taken() && was == match.Ambiguous {
							best[key] = settled(m)
						}
						if !m.Taken() {
							t.Logf("left to a person: %s %s %q\n\t%s\n\t%.300q", m.Form, key, m.Reasons, s.url, s.text)
						}
					case m.Taken() && another(rows, row, s):
						wrong++
						t.Logf("wrong: %s %s %q %q\n\t%s\n\t%.300q", m.Verdict, m.Form, row.paper.Title, m.Reasons, s.url, s.text)
					}
				}
			}
			right, ambiguous, of := 0, 0, 0
			for _, r := range rows {
				if len(r.sha256) == 0 {
					continue
				}
				of++
				switch v, ok := best[r.paper.Key]; {
				case !ok:
				case v == match.Ambiguous:
					ambiguous++
				default:
					right++
				}
			}
			t.Logf("%s: of %d papers %d right, %d ambiguous, %d missed; %d documents wrong", c.sites, of, right, ambiguous, of-right-ambiguous, wrong)
			require.GreaterOrEqual(t, right, c.right)
			require.LessOrEqual(t, ambiguous, c.ambiguous)
			require.LessOrEqual(t, wrong, c.wrong)
		})
	}
}

// settled is a match's verdict; one that is not taken asks a person.
func settled(m match.Match) match.Verdict {
	if m.Taken() {
		return m.Verdict
	}
	return match.Ambiguous
}

// another: the document is listed as another wanted paper.
func another(rows []wantedRow, row wantedRow, s sample) bool {
	return slices.ContainsFunc(rows, func(o wantedRow) bool {
		return isRight(o, s) && text.Normalise(o.paper.Title) != text.Normalise(row.paper.Title)
	})
}

// surest are the matches of a document by each of the links to it, the surest of each
// paper. owners are whose homepages are on its host.
func surest(ix *match.Index, s sample, links []page.Link, owners string) map[string]match.Match {
	out := map[string]match.Match{}
	for _, l := range append(links, page.Link{}) {
		ev := match.Evidence{FirstPages: s.text, MetaTitle: s.title, FileName: path.Base(s.url), Anchor: l.Anchor, Owners: owners}
		for _, m := range ix.Document(ev) {
			if was, ok := out[m.Paper.Key]; !ok || m.Taken() && !was.Taken() {
				out[m.Paper.Key] = m
			}
		}
	}
	return out
}

func keyOf(raw string) string {
	k := weburl.Key(raw)
	if u, err := url.PathUnescape(k); err == nil {
		return u
	}
	return k
}

// linksTo are the links of a recording's pages to its documents.
func linksTo(t *testing.T, sites string) map[string][]page.Link {
	root, out := realdata.Path(t, sites), map[string][]page.Link{}
	require.NoError(t, filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(file))
		if err != nil || e.IsDir() || ext != ".html" && ext != ".htm" && ext != ".php" {
			return err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		host, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
		at := url.URL{Scheme: "http", Host: host, Path: "/" + strings.TrimSuffix(rest, "index"+ext)}
		p, err := page.Parse(at.String(), http.Header{"Content-Type": {"text/html"}}, body)
		if err != nil {
			return err
		}
		for _, l := range p.Links {
			if weburl.IsDocumentName(l.URL) {
				out[keyOf(l.URL)] = append(out[keyOf(l.URL)], l)
			}
		}
		return nil
	}))
	return out
}

// ownersOf lists, for each host, the people who have their homepages there (Evidence.Owners).
func ownersOf(t *testing.T, truth string) map[string]string {
	t.Helper()
	owners := map[string]string{}
	for _, r := range realdata.Table(t, truth, "homepages.tsv") {
		owners[weburl.Host(r["homepage"])] += gleaner.Author{Name: r["author"]}.ID() + "\n"
	}
	return owners
}
