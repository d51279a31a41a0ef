package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// foreign is a paper of eight pages in another language: its headings, what it
// calls itself, and a sentence that it goes on with.
type foreign struct{ title, abstract, introduction, self, prose, conclusion, references string }

func (f foreign) text() *Text {
	body := strings.TrimSpace(strings.Repeat(f.prose+" [1, 2]\n", 25))
	pages := []string{f.title + "\n\nA. Author, B. Writer\nann@example.org\n\n" + f.abstract + "\n" + f.self + "\n\n1 " + f.introduction + "\n" + body}
	for range 6 {
		pages = append(pages, "2.1 Theorem\nTheorem 3.\n"+body+"\n"+f.self)
	}
	list := ""
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		list += "[" + n + "] A. Author, B. Writer. " + f.title + ". Vol. 3, 200" + n + "\n"
	}
	pages = append(pages, "5 "+f.conclusion+"\n"+body+"\n"+f.references+"\n"+list)
	return &Text{Outcome: OK, Kind: PDF, Pages: pages, Front: len(pages), PageCount: len(pages), Width: 595, Height: 842}
}

// A paper is one in any language: the filter was taught in English, and what it
// looks at has other names elsewhere.
func TestPapersInOtherLanguages(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]foreign{
		"Russian":    {"О терпении", "Аннотация", "Введение", "В данной работе мы показываем результат.", "Мы доказываем теорему и сравниваем алгоритм с другими, как показано на рисунке.", "Заключение", "Список литературы"},
		"Chinese":    {"论耐心", "摘 要", "引言", "本文证明了一个结果。", "我们证明了该定理并将算法与其他方法进行比较如图所示实验结果表明该方法是有效的。", "结论", "参考文献"},
		"Japanese":   {"忍耐について", "概要", "はじめに", "本論文では結果を示す。", "我々は定理を証明しアルゴリズムを他の手法と比較する図に示すように有効である。", "おわりに", "参考文献"},
		"German":     {"Über Geduld", "Zusammenfassung", "Einleitung", "In dieser Arbeit zeigen wir ein Ergebnis.", "Wir beweisen den Satz und vergleichen das Verfahren mit anderen, wie die Abbildung zeigt.", "Fazit", "Literatur"},
		"Spanish":    {"Sobre la paciencia", "Resumen", "Introducción", "En este artículo mostramos un resultado.", "Demostramos el teorema y comparamos el algoritmo con otros, como muestra la figura.", "Conclusiones", "Referencias"},
		"Portuguese": {"Sobre a paciência", "Resumo", "Introdução", "Neste trabalho mostramos um resultado.", "Provamos o teorema e comparamos o algoritmo com outros, como mostra a figura.", "Conclusão", "Referências"},
		"Polish":     {"O cierpliwości", "Streszczenie", "Wstęp", "W artykule pokazujemy wynik.", "Dowodzimy twierdzenia i porównujemy algorytm z innymi, jak pokazano na rysunku.", "Podsumowanie", "Literatura"},
		"Dutch":      {"Over geduld", "Samenvatting", "Inleiding", "Wij tonen een resultaat.", "Wij bewijzen de stelling en vergelijken het algoritme met andere, zoals de figuur toont.", "Conclusie", "Literatuur"},
	} {
		text := f.text()
		c := counted(text)
		for _, s := range []section{secAbstract, secIntroduction, secConclusion, secReferences} {
			assert.GreaterOrEqual(t, c.at[s], 0, "%s: section %d", name, s)
		}
		assert.False(t, text.garbled(), name)
		j := NewFilter(Balanced).Judge(text, Hints{})
		assert.True(t, j.Academic, "%s: %v", name, j.Reasons)
		assert.Equal(t, 9, j.References, name)
	}
}

func TestScriptsWithOneCase(t *testing.T) {
	t.Parallel()
	text := &Text{Pages: []string{strings.Repeat("使用 URL 和 HTTP 的 系统 PDF ", 60)}}
	assert.False(t, text.garbled(), "its only capitals are those of acronyms")
	assert.True(t, (&Text{Pages: []string{strings.Repeat("QXZ WVK JJQ PLM ", 60)}}).garbled())
	c := counted(&Text{Pages: []string{strings.Repeat("我们证明了该定理并比较算法\n", 100)}})
	assert.Greater(t, c.words, 600, "words are not told by blanks there")
}

func TestAbstractInline(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"Abstract—We show", "Abstract. We", "Résumé. Nous", "Аннотация. Мы", "摘要：本文", "Zusammenfassung: Wir"} {
		assert.True(t, abstractInline(s), s)
	}
	for _, s := range []string{"Abstract machines are", "abstract", "Summary"} {
		assert.False(t, abstractInline(s), s)
	}
}
