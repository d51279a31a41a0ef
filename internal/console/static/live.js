// Renews what changes by itself, where scripts run; elsewhere the page is loaded anew.
"use strict";
const renew = async () => {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = page.getElementById(part.id);
      if (now && !part.contains(document.activeElement)) part.replaceChildren(...now.childNodes);
    }
  } catch { /* the next time */ }
};
if (document.querySelector("[data-live]")) setInterval(() => { if (!document.hidden) renew(); }, 3000);
