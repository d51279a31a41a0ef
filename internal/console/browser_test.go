package console

import (
	"fmt"
	"html"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// frames is a page of pages, side by side: as wide as a phone's, or a desk's.
func frames(pages []string, width int) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><title>loading</title><body style="margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#888">`)
	for _, p := range pages {
		fmt.Fprintf(&b, `<iframe src="%s" style="border:0;background:#fff;width:%dpx;height:900px"></iframe>`, html.EscapeString(p), width)
	}
	b.WriteString(`<script>onload = () => {
		const wrong = []
		for (const f of document.querySelectorAll("iframe")) {
			const d = f.contentDocument, say = what => wrong.push(f.getAttribute("src") + " " + what)
			if (d.documentElement.scrollWidth > f.clientWidth) say("is " + (d.documentElement.scrollWidth - f.clientWidth) + " too wide")
			if (d.querySelectorAll("h1").length != 1) say("has not one h1")
			if (!d.documentElement.lang) say("has no language")
			for (const i of d.querySelectorAll("input:not([type=hidden]), select, textarea")) if (!i.labels.length) say("has no label for " + i.name)
			for (const i of d.querySelectorAll("a, button")) if (!i.textContent.trim()) say("has a link without words")
			for (const i of d.querySelectorAll("img")) if (!i.alt) say("has a picture without words")
			if (d.querySelector("[style], style, [onclick]")) say("has a style or script of its own")
		}
		document.title = "seen " + document.querySelectorAll("iframe").length + ": " + wrong.join("; ")
	}</script>`)
	return b.String()
}

// TestPagesInABrowser looks at every page as Chromium lays it out, on a phone and on
// a desk: nothing is wider than the window, and whoever does not see it finds
// languages, headings and labels. GLEANER_SCREENSHOTS names a folder for pictures.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	browser := devtest.Browser(t)
	d, _, _ := jobDesk(t)
	pages := append(samplePages(), "/login", "/nowhere")
	inner := d.Handler(false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if width, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/frames/")); err == nil {
			_, _ = w.Write([]byte(frames(pages, width)))
			return
		}
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type")) // the others forbid frames
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	defer s.Close()
	pictures := os.Getenv("GLEANER_SCREENSHOTS")
	for _, width := range []int{360, 1280} {
		args := []string{"--hide-scrollbars", "--virtual-time-budget=60000", "--dump-dom"}
		if pictures != "" {
			args = append(args[:len(args)-1], fmt.Sprintf("--window-size=%d,%d", 5*width+40, 908*(1+len(pages)/5)), "--screenshot="+filepath.Join(pictures, fmt.Sprintf("console-%d.png", width)))
		}
		out := browser(append(args, fmt.Sprintf("%s/frames/%d", s.URL, width))...)
		if pictures == "" {
			require.Contains(t, out, fmt.Sprintf("<title>seen %d: </title>", len(pages)), "%d wide: %.600s", width, out)
		}
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
	t.Helper()
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
