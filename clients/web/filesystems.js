"use strict";
/* File systems: predicted phases of all jobs on each, with the collisions that are expected. */

const WIDE = 960, LEFT = 190, RIGHT = 12, HIGH = 18, MOST_JOBS = 24, MOST_PHASES = 400, MOST_SYSTEMS = 12;
const SURE_PART = 0.95; // probability from which on the part of a job in a collision is not shown
const LEAST_SHARE = 0.1; // of a job's bytes: what it does elsewhere is no phase here

function horizonOf(jobs, now) {
  const periods = jobs.map((job) => job.prediction && job.prediction.period_s && job.prediction.period_s.value).filter(Boolean);
  if (!periods.length) return 60;
  periods.sort((one, other) => one - other);
  return Math.min(Math.max(4 * periods[Math.floor(periods.length / 2)], 10), 3600);
}

/** Returns start and length of the phases that a job is expected to have up to a moment. */
function phasesOf(job, now, until) {
  const prediction = job.prediction;
  if (!prediction || !prediction.period_s || !prediction.next_phase || prediction.confidence <= 0.5) return [];
  const period = prediction.period_s.value, long = Math.max(prediction.next_phase.duration_s.value, 0), found = [];
  let start = prediction.next_phase.start_s.value;
  if (start + long < now) start += Math.ceil((now - start - long) / period) * period;
  for (; start < until && found.length < MOST_PHASES; start += period) found.push([start, long]);
  return found;
}

/** Returns the bytes that each job moved on all file systems. */
function totalsOf(lives) {
  const totals = new Map();
  for (const live of lives) for (const job of live.jobs) totals.set(job.job, (totals.get(job.job) || 0) + job.bytes_moved);
  return totals;
}

/** Returns the jobs of a collision, with the share of cases in which a job takes part if it is not sure to. */
function partsOf(clash) {
  return clash.jobs.map((job) => (job.probability < SURE_PART ? `${job.job} (in ${Math.round(job.probability * 100)} % of cases)` : job.job)).join(", ");
}

function timeline(system, live, totals, collisions, now) {
  const uses = (job) => job.bytes_moved > 0 && job.bytes_moved >= LEAST_SHARE * totals.get(job.job);
  const jobs = live.jobs.filter((job) => job.prediction && uses(job)).slice(0, MOST_JOBS);
  const lanes = jobs.map((job) => [job, phasesOf(job, now, now + horizonOf(live.jobs, now))]).filter(([, found]) => found.length);
  if (!lanes.length) return element("p", "No phase of a job is predicted here now.", { className: "soft" });
  const span = horizonOf(live.jobs, now), high = HIGH * lanes.length + 34;
  const at = (moment) => LEFT + ((Math.min(Math.max(moment, now), now + span) - now) / span) * (WIDE - LEFT - RIGHT);
  const picture = drawn("svg", { viewBox: `0 0 ${WIDE} ${high}`, role: "img", "aria-label": `phases expected on ${system.file_system} in the next ${duration(span)}` });
  for (const clash of collisions.filter((each) => each.start_s.value < now + span)) {
    const from = at(clash.start_s.low), to = at(Math.max(clash.start_s.high, clash.start_s.value));
    const box = drawn("rect", { x: from.toFixed(1), y: 2, width: Math.max(to - from, 4).toFixed(1), height: HIGH * lanes.length, class: "clash" });
    box.append(drawn("title", {}, `collision of ${partsOf(clash)}, ${Math.round(clash.probability * 100)} % sure`));
    picture.append(box);
  }
  lanes.forEach(([job, found], lane) => {
    const top = 4 + HIGH * lane, name = job.job.length > 26 ? `${job.job.slice(0, 25)}…` : job.job;
    const label = drawn("text", { x: LEFT - 8, y: top + 11, "text-anchor": "end" }, name);
    label.append(drawn("title", {}, job.job));
    picture.append(label);
    for (const [start, long] of found) {
      picture.append(drawn("rect", { x: at(start).toFixed(1), y: top, width: Math.max(at(start + long) - at(start), 1.5).toFixed(1), height: HIGH - 6, class: "phase" }));
    }
  });
  const base = HIGH * lanes.length + 6;
  picture.append(drawn("path", { d: `M${LEFT} ${base}H${WIDE - RIGHT}`, class: "axis" }));
  for (let tick = 0; tick <= 4; tick += 1) {
    picture.append(drawn("text", { x: LEFT + (tick / 4) * (WIDE - LEFT - RIGHT), y: base + 18, "text-anchor": tick ? (tick === 4 ? "end" : "middle") : "start" }, tick ? `+${duration((tick / 4) * span)}` : "now"));
  }
  return picture;
}

function facts(system) {
  const parts = [[system.place, system.type].filter(Boolean).join(", "), `${rate(system.bandwidth) || "0 B/s"} in the last minute`, `busy ${Math.round(system.busy * 100)} %`];
  const capacity = system.capacity.bytes_per_s;
  parts.push(capacity ? `capacity ${system.capacity.known.replace("_", " ")} ${rate(capacity.value)}` : "capacity not known");
  return `${parts.join("; ")}; ${system.jobs.length} job${system.jobs.length === 1 ? "" : "s"}`;
}

async function look() {
  let contention;
  try {
    contention = await ask("api/v1/contention");
  } catch (error) {
    if (error.status !== 403 && error.status !== 404) throw error;
    document.getElementById("systems").replaceChildren(element("p", error.message));
    say("");
    return;
  }
  const now = contention.made_at_s, made = [];
  for (const alert of contention.alerts) {
    made.push(element("p", `${alert.summary} (${Math.round(alert.sure * 100)} % sure); ${alert.advice}`, { className: "alert" }));
  }
  const systems = contention.file_systems.slice(0, MOST_SYSTEMS), lives = [];
  for (const system of systems) lives.push(await ask(`api/v1/live-io?${new URLSearchParams({ file_system: system.file_system })}`));
  const totals = totalsOf(lives);
  systems.forEach((system, place) => {
    const live = lives[place], box = element("section", undefined, { className: "system" });
    box.append(element("h2", system.file_system), element("p", facts(system), { className: "soft" }));
    const clashes = contention.collisions.filter((each) => each.file_system === system.file_system);
    const scrolled = element("div", undefined, { className: "wide", tabIndex: 0, role: "group", ariaLabel: "Chart" });
    scrolled.append(timeline(system, live, totals, clashes, live.made_at_s));
    box.append(scrolled);
    for (const clash of clashes.slice(0, 5)) {
      box.append(element("p", `Collision expected at ${clock(clash.start_s.value)} (${Math.round(clash.probability * 100)} % sure): `
        + `${partsOf(clash)} want ${rate(clash.demand)}${clash.excess > 1 ? `, ${clash.excess.toFixed(1)} times what there is` : ""}.`));
    }
    made.push(box);
  });
  if (!contention.file_systems.length) made.push(element("p", "No job has used a file system yet."));
  keepingPlaces(() => document.getElementById("systems").replaceChildren(...made));
  say(`as of ${clock(now)}`);
}

again(look, 2000);
