"use strict";
/* A job's page: drawn by the aggregator, and exchanged in place while the job goes on. */

/** Takes over what has changed; what is folded open stays open, and the page stays where it is. */
function exchange(fresh) {
  const old = document.querySelector("main"), next = fresh.querySelector("main");
  if (!next || old.isEqualNode(next)) return;
  const before = [...old.querySelectorAll("details")].map((each) => each.open);
  next.querySelectorAll("details").forEach((each, at) => { each.open = Boolean(before[at]); });
  const kept = [...old.children], made = [...next.children];
  made.forEach((each, at) => {
    const held = kept[at];
    if (!held) old.append(document.importNode(each, true));
    else if (!held.isEqualNode(each)) held.replaceWith(document.importNode(each, true));
  });
  kept.slice(made.length).forEach((each) => each.remove());
}

async function look() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (answer.status === 404) throw new Error("nothing of this job is held now; asking again");
  if (!answer.ok) throw new Error(`the aggregator answers ${answer.status}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  keepingPlaces(() => exchange(fresh));
  say(document.body.dataset.state === "ended" ? "" : `as of ${clock(Date.now() / 1000)}`);
}

again(look, 2000);
