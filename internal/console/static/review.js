// Keys for the list of matches that wait for a word, where scripts run.
"use strict";
{
  const cards = [...document.querySelectorAll("article.card")];
  const at = () => cards.findIndex((card) => card.contains(document.activeElement));
  const words = { y: "yes", n: "no", u: "undo" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input, select, textarea")) return;
    const here = at();
    const step = { j: 1, k: -1 }[event.key];
    if (step) {
      const card = cards[Math.min(Math.max(here + step, 0), cards.length - 1)];
      for (const part of card.querySelectorAll("details")) part.open = true;
      card.focus();
    } else cards[here]?.querySelector(`button[value="${words[event.key]}"]`)?.click();
  });
}
