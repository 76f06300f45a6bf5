"use strict";
/* The list of all jobs: sorted and searched by the aggregator, asked for once a second. */

const PAGE = 50;
const COLUMNS = [
  ["job", "Job", "text name"], ["user", "User", "text"], ["state", "State", "text"],
  ["bandwidth", "Bandwidth", ""], ["", "Last 2 min", ""], ["period", "Period", ""], ["next", "Next phase", ""],
  ["written", "Written", ""], ["read", "Read", ""], ["", "Nodes", ""], ["last", "Last I/O", ""], ["", "Notes", "text"],
];
const ASCENDING = new Set(["job", "user", "state", "period", "next"]);
const wanted = { search: "", sort: "bandwidth", descending: true, begin: 0 };
let aheadS = 0; // of the aggregator's clock
const rows = new Map();

function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  wanted.search = asked.get("search") || "";
  wanted.sort = asked.get("sort") || "bandwidth";
  wanted.descending = asked.get("descending") !== "false";
  wanted.begin = Math.max(Number(asked.get("begin")) || 0, 0);
}

function toAddress() { history.replaceState(null, "", `#${new URLSearchParams(wanted)}`); }

function sparkline(values) {
  const picture = drawn("svg", { width: 90, height: 18, viewBox: "0 0 90 18", "aria-hidden": "true" });
  const top = Math.max(...values, 0);
  if (top > 0) {
    const wide = 90 / values.length;
    let path = "";
    values.forEach((value, at) => {
      const high = (value / top) * 17;
      if (high > 0) path += `M${(at * wide).toFixed(1)} 18v${(-Math.max(high, 0.7)).toFixed(1)}h${(wide * 0.85).toFixed(1)}V18z`;
    });
    picture.append(drawn("path", { d: path, class: "spark" }));
  }
  return picture;
}

function heads() {
  const row = document.getElementById("heads");
  for (const [key, name, look] of COLUMNS) {
    const head = element("th", undefined, { scope: "col", className: look });
    if (key) {
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => {
        wanted.descending = wanted.sort === key ? !wanted.descending : !ASCENDING.has(key);
        Object.assign(wanted, { sort: key, begin: 0 });
        look_now();
      });
      head.append(button);
      head.dataset.key = key;
    } else {
      head.textContent = name;
    }
    row.append(head);
  }
}

function notes(job) {
  const marks = [];
  if (job.alerts) marks.push(`${job.alerts} alert${job.alerts > 1 ? "s" : ""}`);
  if (!job.complete) marks.push("incomplete");
  if (job.failures) marks.push("analysis failed");
  return marks.join(", ");
}

function countdown(job, now) {
  if (job.next_start_s === null) return "";
  const left = job.next_start_s - now;
  return left > 0 ? `in ${duration(left)}` : left > -1 ? "now" : `${duration(-left)} ago`;
}

function rowOf(job, now) {
  let row = rows.get(job.job);
  if (!row) {
    row = element("tr");
    row.append(...COLUMNS.map(([, , look]) => element("td", undefined, { className: look })));
    const link = element("a", job.job, { title: job.command });
    link.setAttribute("href", job.page);
    row.children[0].append(link);
    row.children[6].classList.add("next");
    row.children[11].classList.add("note");
    rows.set(job.job, row);
  }
  const link = row.children[0].firstChild, title = job.name ? `${job.job} ${job.name}` : job.job;
  if (link.textContent !== title) link.textContent = title;
  const texts = [
    null, job.user, job.state, rate(job.bandwidth), null,
    job.period_s === null ? "" : `${duration(job.period_s)} (${Math.round(job.confidence * 100)} %)`,
    countdown(job, now), bytes(job.bytes_written), bytes(job.bytes_read), String(job.nodes || ""),
    job.last_event_at_s === null ? "" : `${duration(Math.max(now - job.last_event_at_s, 0))} ago`, notes(job),
  ];
  texts.forEach((text, at) => {
    if (text !== null && row.children[at].textContent !== text) row.children[at].textContent = text;
  });
  row.children[4].replaceChildren(sparkline(job.recent));
  row.classList.toggle("soon", job.next_start_s !== null && Math.abs(job.next_start_s - now) < 5);
  row.classList.toggle("bad", Boolean(job.alerts || job.failures || !job.complete));
  row.job = job;
  return row;
}

function show(fleet) {
  const now = fleet.made_at_s;
  aheadS = now - Date.now() / 1000;
  const body = document.getElementById("jobs");
  const focused = document.activeElement;
  const made = fleet.jobs.map((job) => rowOf(job, now));
  if (made.length !== body.children.length || made.some((row, at) => body.children[at] !== row)) body.replaceChildren(...made);
  if (focused && focused !== document.activeElement && body.contains(focused)) focused.focus();
  if (rows.size > 4 * PAGE) {
    const kept = new Set(fleet.jobs.map((job) => job.job));
    for (const name of rows.keys()) if (!kept.has(name)) rows.delete(name);
  }
  for (const head of document.querySelectorAll("#heads th[data-key]")) {
    if (head.dataset.key === wanted.sort) head.setAttribute("aria-sort", wanted.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  const states = Object.entries(fleet.states).map(([state, count]) => `${count.toLocaleString("en")} ${state}`).join(", ");
  document.getElementById("sum").textContent = `${fleet.total.toLocaleString("en")} job${fleet.total === 1 ? "" : "s"}: ${states || "none yet"}; `
    + `${rate(fleet.bandwidth) || "0 B/s"} together${fleet.alerts ? `; ${fleet.alerts} alert${fleet.alerts === 1 ? "" : "s"} raised` : ""}`;
  const last = Math.min(fleet.begin + PAGE, fleet.matching);
  document.getElementById("place").textContent = fleet.matching ? `${fleet.begin + 1} to ${last} of ${fleet.matching.toLocaleString("en")}` : "no job";
  document.getElementById("before").disabled = fleet.begin === 0;
  document.getElementById("after").disabled = last >= fleet.matching;
  if (fleet.begin && fleet.begin >= fleet.matching) { wanted.begin = 0; look_now(); }
  say(`as of ${clock(now)}`);
}

async function look() {
  const asked = new URLSearchParams({ ...wanted, count: PAGE });
  show(await ask(`api/v1/fleet?${asked}`));
}

let look_now = () => {};
fromAddress();
heads();
const search = document.getElementById("search");
search.value = wanted.search;
search.addEventListener("input", () => { Object.assign(wanted, { search: search.value, begin: 0 }); toAddress(); look_now(); });
document.getElementById("before").addEventListener("click", () => { wanted.begin = Math.max(wanted.begin - PAGE, 0); look_now(); });
document.getElementById("after").addEventListener("click", () => { wanted.begin += PAGE; look_now(); });
const turn = again(look, 1000);
look_now = () => { toAddress(); turn(); };
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
