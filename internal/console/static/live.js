// Renews what changes by itself, where scripts run; elsewhere the page is loaded anew.
"use strict";
// What was done just now may begin to show a while later.
const until = document.querySelector("[role=status]") ? Date.now() + 120000 : 0;
const renew = async () => {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    let all = true;
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = page.getElementById(part.id), held = part.contains(document.activeElement) || part.querySelector(".ask[open]") != null;
      if (!now && !held) return location.reload(); // it became another page
      if (!held) part.replaceChildren(...now.childNodes);
      all &&= !held;
    }
    // What changes no more is left alone: somebody may be writing in it.
    if (all && Date.now() > until && !page.querySelector('script[src="/live.js"]')) clearInterval(again);
  } catch { /* the next time */ }
};
const again = document.querySelector("[data-again]")
  ? setTimeout(() => document.querySelector("[action='/estimates']").requestSubmit(), 5000) // a preview goes on
  : setInterval(() => { if (!document.hidden) renew(); }, 3000);
