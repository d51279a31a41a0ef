package console

import (
	_ "embed"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

//go:embed testdata/looks.js
var looks string

// TestPagesInABrowser looks at every page as Chromium lays it out with the console's
// own headers, on a phone and on a desk, in the light and in the dark: nothing is wider
// than the window, words stand out, whoever does not see it finds languages, headings
// and labels, and the browser complains of nothing. GLEANER_SCREENSHOTS names a folder
// for pictures.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	w := d.window()
	d.explained(sampleHarvest)
	wrong := []string{}
	for _, size := range []struct {
		width  int64
		scheme string
	}{{360, "dark"}, {1280, "light"}} {
		w.size(size.width, size.scheme)
		for _, path := range append(samplePages(), "/login", "/nowhere") {
			w.open(path)
			see[chromedp.Void](w, `document.querySelectorAll("details:not(:has(img))").forEach(e => e.open = true)`)
			if said := see[string](w, looks); said != "" {
				wrong = append(wrong, fmt.Sprintf("%d wide, %s, %s: %s", size.width, size.scheme, path, said))
			}
			for _, said := range w.complaints() {
				if path != "/nowhere" { // which is not there
					wrong = append(wrong, path+": "+said)
				}
			}
			if size.width == 360 {
				w.size(320, size.scheme) // as wide as WCAG asks for (1.4.10)
				if over := see[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					wrong = append(wrong, fmt.Sprintf("320 wide, %s: is %d too wide", path, over))
				}
				w.size(360, size.scheme)
			}
			w.picture(fmt.Sprintf("%d-%s%.60s", size.width, size.scheme, strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(path)))
		}
	}
	require.Empty(t, wrong, "%s", strings.Join(wrong, "\n"))
}

// TestAPictureInABrowser: the rules of content let the first page of a document be seen.
func TestAPictureInABrowser(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	w := d.window()
	sha := d.aPDF()
	d.sample()
	require.NoError(t, d.SaveFetched(t.Context(), store.Document{SHA256: sha, Kind: "pdf", Bytes: 1}, store.Location{Hash: []byte(sha)[:32], SiteID: 1, URL: "http://www.ada.example/new.pdf", Found: time.Now()}, nil))
	w.open("/documents/" + sha)
	w.do(chromedp.Click("summary"))
	w.until(`document.querySelector("img").naturalHeight == 800`)
	require.Empty(t, w.complaints())
}

// TestReviewByKeys: after a word the next match has the focus; u takes the last word back.
func TestReviewByKeys(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/webdb/P3', $1, 'ambiguous', 0.8)`, sampleSHA)
	w := d.window()
	w.open("/review")
	focused := func(n int, title string) {
		w.until(fmt.Sprintf(`document.querySelectorAll("article").length == %d &&
			(document.activeElement.querySelector("h2")?.textContent ?? "").startsWith(%q) &&
			!document.activeElement.querySelector("details:not([open])")`, n, title))
	}
	w.press("j")
	focused(2, "Difference Engines")
	w.do(chromedp.Click("article:focus .skip-match"))
	focused(2, "Missing Since")
	w.press("k")
	focused(2, "Difference Engines")
	w.press("y")
	focused(1, "Missing Since")
	w.press("n")
	focused(0, "")
	w.press("u")
	focused(1, "Missing Since")
	for _, said := range w.complaints() {
		require.Contains(t, said, "page.png", "the sample's files cannot be drawn")
	}
}

// TestColoursCanBeTold: words stand out from what is behind them as WCAG asks for, in
// the light and in the dark.
func TestColoursCanBeTold(t *testing.T) {
	t.Parallel()
	css, err := fs.ReadFile(static, "static/style.css")
	require.NoError(t, err)
	schemes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(string(css), -1)
	require.Len(t, schemes, 2)
	for _, scheme := range schemes {
		light := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): #(\w+)`).FindAllStringSubmatch(scheme[1], -1) {
			light[m[1]] = luminance(t, m[2])
		}
		require.Len(t, light, 11)
		for _, words := range []string{"ink", "quiet", "link", "held", "found", "missing", "wrong", "all"} {
			for _, behind := range []string{"paper", "soft"} {
				a, b := max(light[words], light[behind]), min(light[words], light[behind])
				require.GreaterOrEqual(t, (a+.05)/(b+.05), 4.5, "%s on %s", words, behind)
			}
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	if len(hex) == 3 {
		hex = hex[:1] + hex[:1] + hex[1:2] + hex[1:2] + hex[2:] + hex[2:]
	}
	var sum float64
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		require.NoError(t, err)
		c := float64(n) / 255
		if c <= .03928 {
			sum += weight * c / 12.92
			continue
		}
		sum += weight * math.Pow((c+.055)/1.055, 2.4)
	}
	return sum
}
