// Keys for the list of matches that wait for a word, where scripts run. After a word the
// next match has the focus, and u takes the last word back.
"use strict";
{
  const cards = [...document.querySelectorAll("article.card")];
  const at = () => cards.findIndex((card) => card.contains(document.activeElement));
  const words = { y: "yes", n: "no", u: "undo" };
  const last = JSON.parse(sessionStorage.getItem("review") ?? "null");
  const keep = (word) => sessionStorage.setItem("review", JSON.stringify(word));
  const takeBack = () => {
    const form = Object.assign(document.createElement("form"), { method: "post", action: "/review" });
    for (const [name, value] of [...last.fields, ["word", "undo"]])
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    document.body.append(form);
    keep({ ...last, fields: [], arrives: true });
    form.submit();
  };
  for (const form of document.querySelectorAll("article.card form"))
    form.addEventListener("submit", () => keep({ at: cards.indexOf(form.closest("article")), fields: [...new FormData(form)], arrives: true }));
  const show = (at) => {
    const card = cards[Math.min(Math.max(at, 0), cards.length - 1)];
    for (const part of card?.querySelectorAll("details") ?? []) part.open = true;
    card?.focus();
  };
  if (last?.arrives) {
    show(last.at);
    keep({ ...last, arrives: false });
  }
  for (const button of document.querySelectorAll(".skip-match")) {
    button.hidden = false;
    const here = cards.indexOf(button.closest("article"));
    const next = document.querySelector("a[rel=next]");
    button.addEventListener("click", () => (here < cards.length - 1 || !next ? show(here + 1) : next.click()));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input, select, textarea")) return;
    const here = at();
    const step = { j: 1, k: -1 }[event.key];
    const button = cards[here]?.querySelector(`button[value="${words[event.key]}"]`);
    if (step) show(here + step);
    else if (button) button.click();
    else if (event.key === "u" && last?.fields.length) takeBack();
  });
}
