package page

import (
	"slices"
	"strings"
)

// missingText is the length from which a page is no "not found" page: such
// pages have the site's menu and one sentence.
const missingText = 2500

// missingTitles are what the title or first heading of a "not found" page says,
// lower case and without marks at its ends, beside the name of the site.
var missingTitles = []string{
	"404", "error 404", "404 error", "http 404", "not found", "404 not found", "404 page not found", "page not found",
	"page not found (404)", "file not found", "object not found", "document not found", "item not found",
	"resource not found", "url not found", "the page cannot be found", "page cannot be found", "page could not be found",
	"the requested page could not be found", "this page does not exist", "page does not exist", "page doesn't exist",
	"page missing", "page unavailable", "page no longer exists", "no such page", "oops! page not found",
	"account suspended", "site not found", "we can't find that page", "sorry, page not found", "page removed", "410 gone",
	"seite nicht gefunden", "nicht gefunden", "datei nicht gefunden", "objekt nicht gefunden", "page introuvable", "page non trouvée",
	"non trouvé", "página no encontrada", "no encontrado", "pagina non trovata", "non trovato", "página não encontrada",
	"pagina niet gevonden", "sidan hittades inte", "sidan kunde inte hittas", "siden blev ikke fundet", "sivua ei löydy",
	"strona nie została znaleziona", "nie znaleziono strony", "stránka nenalezena", "страница не найдена", "ページが見つかりません",
	"お探しのページは見つかりません", "页面不存在", "找不到页面", "페이지를 찾을 수 없습니다",
}

// missingWords are sentences of such pages, lower case, long enough not to be
// said of anything else.
var missingWords = []string{
	"was not found on this server", "could not be found on this server", "the page you requested could not be found",
	"the page you are looking for", "the page you were looking for", "the page you're looking for", "the requested page could not be found",
	"the page you have requested does not exist", "the page you requested does not exist", "the requested url was not found",
	"the page cannot be found", "sorry, we couldn't find", "this page isn't available", "the file you requested was not found",
	"die angeforderte seite", "die gewünschte seite", "la page que vous", "la página que", "la pagina richiesta", "no longer available on this server",
}

// softMissing says whether a page that came with a status of success says that
// there is nothing. Title or one of few headings has to be nothing but that; or a sentence
// says so and the page is short and names no document.
func softMissing(p *Page) bool {
	if len(p.Text) > missingText || citesDocument(p) {
		return false
	}
	if isMissingTitle(p.Title) || len(p.Headings) <= 3 && slices.ContainsFunc(p.Headings, isMissingTitle) {
		return true
	}
	return len(p.Text) <= missingText/3 && containsAny(strings.ToLower(p.Text), missingWords) > 0
}

// isMissingTitle says whether one part of a title, between the marks with which
// sites add their name, is one of missingTitles.
func isMissingTitle(title string) bool {
	if title == "" || len(title) > 120 {
		return false
	}
	title = strings.ToLower(title)
	for _, mark := range []string{" | ", " - ", " – ", " — ", " · ", " » ", " :: "} {
		if slices.ContainsFunc(strings.Split(title, mark), isMissingPart) {
			return true
		}
	}
	first, _, ok := strings.Cut(title, ":")
	return ok && (strings.Contains(first, "404") || strings.Contains(first, "error")) && isMissingPart(first)
}

// isMissingPart compares one part.
func isMissingPart(part string) bool {
	return slices.Contains(missingTitles, strings.Trim(part, " .!…"))
}
