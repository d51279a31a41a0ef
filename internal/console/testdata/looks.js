// What is wrong with how a page is laid out, and for whom does not see it.
(() => {
  const wrong = new Set(), d = document, root = d.documentElement
  if (root.scrollWidth > root.clientWidth) wrong.add("is " + (root.scrollWidth - root.clientWidth) + " too wide")
  if (d.querySelectorAll("h1").length != 1) wrong.add("has not one h1")
  if (!root.lang) wrong.add("has no language")
  for (const e of d.querySelectorAll("input:not([type=hidden]), select, textarea")) if (!e.labels.length || !e.labels[0].textContent.trim()) wrong.add("has no label for " + e.name)
  for (const e of d.querySelectorAll("a, button, summary")) if (!e.textContent.trim()) wrong.add("has a link without words")
  for (const e of d.querySelectorAll("img")) if (!e.alt) wrong.add("has a picture without words")
  for (const e of d.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) wrong.add("has an order of its own for the keyboard")
  if (d.querySelector("[style], style, [onclick]")) wrong.add("has a style or script of its own")
  for (const e of d.querySelectorAll(".wide")) if (e.scrollWidth > e.clientWidth && e.tabIndex < 0) wrong.add("scrolls what the keyboard cannot reach")
  if (innerWidth < 640 && d.querySelector("nav")?.offsetHeight > 64) wrong.add("has a navigation of several rows")
  const here = d.querySelector("nav [aria-current]")?.getBoundingClientRect()
  if (here && (here.left < 0 || here.right > innerWidth)) wrong.add("hides the navigation's entry of itself")
  for (const e of d.querySelectorAll("nav a:not([aria-current])")) if (here && e.getBoundingClientRect().left < here.right && e.getBoundingClientRect().right > here.left && e.getBoundingClientRect().top < here.bottom && e.getBoundingClientRect().bottom > here.top) wrong.add("covers the navigation's " + e.textContent)
  const ids = [...d.querySelectorAll("[id]")].map(e => e.id)
  for (const id of ids) if (ids.indexOf(id) != ids.lastIndexOf(id)) wrong.add("has the id " + id + " twice")
  let level = 0
  for (const e of d.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const now = +e.tagName[1]
    if (now > level + 1) wrong.add("has no heading between h" + level + " and " + e.textContent.trim())
    level = now
  }
  // Words stand out from what is behind them as WCAG asks for (1.4.3).
  const parts = c => c.match(/[\d.]+/g).map(Number)
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b) }
  const behind = e => { for (; e; e = e.parentElement) { const p = parts(getComputedStyle(e).backgroundColor); if (p.length == 3 || p[3] == 1) return p } return [255, 255, 255] }
  const told = (e, ink, what) => {
    const [a, b] = [light(parts(ink)), light(behind(e))].sort((x, y) => y - x), size = parseFloat(getComputedStyle(e).fontSize)
    if ((a + .05) / (b + .05) < (size >= 24 ? 3 : 4.5)) wrong.add(what + " is " + ((a + .05) / (b + .05)).toFixed(1) + " to 1")
  }
  for (const walk = d.createTreeWalker(d.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
    const e = walk.currentNode.parentElement, words = walk.currentNode.textContent.trim()
    if (words && e.checkVisibility()) told(e, e.namespaceURI.endsWith("svg") ? getComputedStyle(e).fill : getComputedStyle(e).color, words.slice(0, 20))
  }
  for (const e of d.querySelectorAll("[placeholder]")) told(e, getComputedStyle(e, "::placeholder").color, "what is to be written into " + e.name)
  // On a phone a finger meets each button and field (WCAG 2.5.8: 24 by 24).
  for (const e of d.querySelectorAll("button, input:not([type=hidden]), select, textarea, nav a")) {
    const box = e.getBoundingClientRect()
    if (e.checkVisibility() && (box.height < 24 || box.width < 24) && !e.closest("label") && !(e.type == "checkbox")) wrong.add((e.textContent.trim() || e.name) + " is " + Math.round(box.width) + " by " + Math.round(box.height))
  }
  return [...wrong].join("; ")
})()
