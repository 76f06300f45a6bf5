"use strict";
/* What the pages share: numbers as people read them, asking the aggregator again and again. */

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** Writes a number of bytes with a decimal prefix. */
function bytes(count) {
  let at = 0;
  while (Math.abs(count) >= 999.95 && at < PREFIXES.length - 1) { count /= 1000; at += 1; }
  return `${at ? count.toFixed(1) : Math.round(count)} ${PREFIXES[at]}B`;
}

/** Writes a bandwidth. */
function rate(count) { return count ? `${bytes(count)}/s` : ""; }

/** Writes a duration. */
function duration(seconds) {
  const size = Math.abs(seconds);
  if (size < 0.9995) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  if (size < 120) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds), part = (value) => String(value).padStart(2, "0");
  if (size < 7200) return `${Math.floor(whole / 60)} min ${part(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${part(Math.floor((whole % 3600) / 60))} min`;
}

/** Writes a time of day. */
function clock(unix) { return new Date(unix * 1000).toLocaleTimeString([], { hour12: false }); }

/** Makes an element with text; texts are never read as HTML. */
function element(name, text, properties) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, properties || {});
}

/** Makes an element of SVG. */
function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Returns the boxes that scroll, by the heading above and their place below it. */
function boxesByHeading() {
  const boxes = new Map();
  let heading = "", count = 0;
  for (const each of document.querySelectorAll("h2, h3, [role=group][tabindex]")) {
    if (each.matches("h2, h3")) [heading, count] = [each.textContent, 0];
    else boxes.set(`${heading} ${count += 1}`, each);
  }
  return boxes;
}

/** Changes the page; boxes stay where they are scrolled to, and the box with the focus keeps it. */
function keepingPlaces(change) {
  const before = [...boxesByHeading()].map(([key, box]) => [key, box.scrollLeft, box === document.activeElement]);
  change();
  const after = boxesByHeading();
  for (const [key, left, isHeld] of before) {
    const box = after.get(key);
    if (box && box.scrollLeft !== left) box.scrollLeft = left;
    if (box && isHeld && box !== document.activeElement) box.focus({ preventScroll: true });
  }
}

/** Says how fresh the page is. */
function say(text, isBad) {
  const status = document.getElementById("status");
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle("bad", Boolean(isBad));
}

/** Does something again and again, one after the other, while somebody looks at the page. */
function again(work, everyMs) {
  let timer = 0;
  const turn = async () => {
    clearTimeout(timer);
    const begun = performance.now();
    if (!document.hidden) {
      try {
        await work();
      } catch (error) {
        say(error instanceof TypeError ? "the aggregator does not answer; trying again" : error.message, true);
      }
    }
    // a turn begins everyMs after the last one; one that takes longer leaves the aggregator half of that time
    timer = setTimeout(turn, Math.max(everyMs - (performance.now() - begun), everyMs / 2));
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) turn(); });
  turn();
  return turn;
}

/** Asks the aggregator; an error says what it answered. */
async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let reason = "";
  try { reason = JSON.parse(text).error; } catch { reason = answer.statusText; }
  const error = new Error(reason || `status ${answer.status}`);
  error.status = answer.status;
  throw error;
}
