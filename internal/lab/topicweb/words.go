package topicweb

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// text is what a page says.
func (w *Web) text(h, i int, what string) string {
	r := w.random(fmt.Sprintf("%s %d %d", what, h, i))
	own, share, noise := w.themes[h%themes], 0.45, w.opt.Noise
	if t := w.about(h, i); t != offTopic {
		own, share, noise = w.topics[t], 0.2+0.3*r.Float64(), 0
	} else if w.mixed(h, i) { // up to as much as the least of a page about it
		of := w.topics[r.IntN(len(w.topics))]
		return w.words(r, own, share, 0.2*r.Float64(), of)
	}
	return w.words(r, own, share, noise, nil)
}

// words are those of a page: a share of its own subject's, a share of noise, of one
// topic or of all, and of those that all pages have.
func (w *Web) words(r *rand.Rand, own []string, share, noise float64, of []string) string {
	words := make([]string, pageWords)
	for k := range words {
		switch x := r.Float64(); {
		case x < noise:
			if of == nil {
				words[k] = some(r, w.topics[r.IntN(len(w.topics))])
			} else {
				words[k] = some(r, of)
			}
		case x < noise+share:
			words[k] = some(r, own)
		default:
			words[k] = some(r, w.common)
		}
	}
	return strings.Join(words, " ")
}

// some picks a word, the first ones more often.
func some(r *rand.Rand, of []string) string {
	x := r.Float64()
	return of[int(x*x*float64(len(of)))]
}

func (w *Web) anchor(h, i int) string {
	return strings.Join(strings.SplitN(w.page(h, i).text(), " ", 3)[:2], " ")
}
