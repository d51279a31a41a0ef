package evaluate

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// The palette is told apart by the colour-blind too (Okabe and Ito).
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000"}

const (
	chartWidth, chartHeight         = 720, 400
	marginLeft, marginRight         = 64, 20
	marginTop, marginBottom         = 40, 56
	plotWidth, plotHeight   float64 = chartWidth - marginLeft - marginRight, chartHeight - marginTop - marginBottom
)

// series is one line of a chart.
type series struct {
	name   string
	points []Point
}

// CurveSVG draws papers against requests, one line for each strategy (Zhuang et
// al., JCDL 2005, Figures 10–12). The picture needs nothing beside itself.
func CurveSVG(w io.Writer, c Comparison) error {
	return lineChart(w, "Papers against requests: "+c.Site, "requests (pages and documents)", "papers", pick(c, func(r Result) []Point { return r.Curve }))
}

// PrecisionSVG draws the share of papers among the documents fetched so far
// (per cent) against requests.
func PrecisionSVG(w io.Writer, c Comparison) error {
	return lineChart(w, "Precision over the crawl: "+c.Site, "requests (pages and documents)", "papers among documents, %", pick(c, func(r Result) []Point { return r.Precision }))
}

func pick(c Comparison, of func(Result) []Point) []series {
	var out []series
	for _, r := range c.Results {
		out = append(out, series{r.Strategy, of(r)})
	}
	return out
}

func lineChart(w io.Writer, title, xLabel, yLabel string, lines []series) error {
	maxX, maxY := 1.0, 1.0
	for _, s := range lines {
		for _, p := range s.points {
			maxX, maxY = math.Max(maxX, float64(p.Requests)), math.Max(maxY, p.Value)
		}
	}
	var b strings.Builder
	open(&b, title)
	axes(&b, maxX, maxY, xLabel, yLabel)
	for i, s := range lines {
		colour := palette[i%len(palette)]
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2"`, colour)
		if s.name == OracleName {
			b.WriteString(` stroke-dasharray="5 4"`)
		}
		b.WriteString(` points="`)
		for _, p := range thin(s.points, 600) {
			fmt.Fprintf(&b, "%.1f,%.1f ", marginLeft+plotWidth*float64(p.Requests)/maxX, marginTop+plotHeight*(1-p.Value/maxY))
		}
		b.WriteString(`"/>` + "\n")
		legend(&b, i, colour, s.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// CompositionSVG draws what the first documents of each strategy were (Zhuang
// et al., JCDL 2005, Figure 13).
func CompositionSVG(w io.Writer, c Comparison) error {
	total := map[Kind]int{}
	longest := 1
	for _, r := range c.Results {
		n := 0
		for k, v := range r.Composition {
			total[k] += v
			n += v
		}
		longest = max(longest, n)
	}
	kinds := slices.Collect(maps.Keys(total))
	first := map[Kind]int{Paper: -1}
	slices.SortFunc(kinds, func(a, b Kind) int { return cmp.Or(cmp.Compare(first[a], first[b]), cmp.Compare(a, b)) })
	var b strings.Builder
	open(&b, fmt.Sprintf("The first %d documents: %s", FirstDocuments, c.Site))
	axes(&b, float64(longest), 0, "documents", "")
	row := plotHeight / float64(max(1, len(c.Results)))
	for i, r := range c.Results {
		x, y := float64(marginLeft), marginTop+row*float64(i)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", marginLeft-6, y+row*0.55, html.EscapeString(r.Strategy))
		for j, k := range kinds {
			width := plotWidth * float64(r.Composition[k]) / float64(longest)
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s: %d</title></rect>`+"\n",
				x, y+row*0.15, width, row*0.7, palette[j%len(palette)], html.EscapeString(kindName(k)), r.Composition[k])
			x += width
		}
	}
	for j, k := range kinds {
		legend(&b, j, palette[j%len(palette)], kindName(k))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func kindName(k Kind) string {
	if k == "" {
		return "unknown"
	}
	return string(k)
}

func open(b *strings.Builder, title string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12">`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight)
	fmt.Fprintf(b, `<title>%[1]s</title><rect width="100%%" height="100%%" fill="#fff"/><text x="%[2]d" y="22" font-size="14">%[1]s</text>`+"\n", html.EscapeString(title), marginLeft)
}

// axes draws the frame with round ticks; a maxY of 0 leaves the y axis bare.
func axes(b *strings.Builder, maxX, maxY float64, xLabel, yLabel string) {
	bottom := marginTop + plotHeight
	for v := 0.0; v <= maxX*1.0001; v += roundStep(maxX) {
		x := marginLeft + plotWidth*v/maxX
		fmt.Fprintf(b, `<path d="M%.1f %d V%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`+"\n", x, marginTop, bottom, x, bottom+16, v)
	}
	for v := 0.0; maxY > 0 && v <= maxY*1.0001; v += roundStep(maxY) {
		y := marginTop + plotHeight*(1-v/maxY)
		fmt.Fprintf(b, `<path d="M%d %.1f H%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", marginLeft, y, marginLeft+plotWidth, marginLeft-6, y+4, v)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", marginLeft+plotWidth/2, chartHeight-24, html.EscapeString(xLabel))
	if yLabel != "" {
		fmt.Fprintf(b, `<text transform="translate(16 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", marginTop+plotHeight/2, html.EscapeString(yLabel))
	}
}

func legend(b *strings.Builder, i int, colour, name string) {
	x := marginLeft + 110*(i%6)
	y := chartHeight - 14 + 12*(i/6)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x, y, colour, x+14, y+9, html.EscapeString(name))
}

// roundStep is 1, 2 or 5 times a power of ten, for about six ticks.
func roundStep(top float64) float64 {
	raw := top / 6
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if raw <= m*unit {
			return math.Max(m*unit, 1)
		}
	}
	return math.Max(10*unit, 1)
}

// thin keeps at most n points, the last among them.
func thin(p []Point, n int) []Point {
	if len(p) <= n {
		return p
	}
	out := make([]Point, 0, n+1)
	for i := range n {
		out = append(out, p[i*len(p)/n])
	}
	return append(out, p[len(p)-1])
}
