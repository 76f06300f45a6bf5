"use strict";
/* The routes of the aggregator, from its OpenAPI document. */

/** Returns the name of the model that a route answers with. */
function modelOf(route) {
  const content = (route.responses && route.responses[200] && route.responses[200].content) || {};
  const schema = (content["application/json"] && content["application/json"].schema) || {};
  return schema.$ref ? schema.$ref.split("/").pop() : Object.keys(content).find((kind) => kind !== "application/json") || "";
}

/** Returns the parameters that are not part of the path. */
function parametersOf(route) {
  return (route.parameters || []).filter((each) => each.in === "query").map((each) => each.name).join(", ");
}

function rowOf(path, method, route) {
  const row = document.createElement("tr"), shown = path.replaceAll(":path}", "}");
  const first = element("td", undefined, { className: "text" });
  const plain = method === "get" && !path.includes("{") && !(route.parameters || []).some((each) => each.required);
  if (method !== "get") first.append(`${method.toUpperCase()} `);
  first.append(plain ? element("a", shown, { href: path.slice(1) }) : element("code", shown));
  const content = (route.description || route.summary || "").split("\n\n")[0];
  row.append(first, element("td", content, { className: "text long" }));
  row.append(element("td", parametersOf(route), { className: "text long" }), element("td", modelOf(route), { className: "text" }));
  return row;
}

async function look() {
  const known = await ask("api/v1/openapi.json"), made = [];
  for (const [path, routes] of Object.entries(known.paths)) {
    for (const [method, route] of Object.entries(routes)) made.push(rowOf(path, method, route));
  }
  document.getElementById("paths").replaceChildren(...made);
  say(`version ${known.info.version}`);
}

look().catch((error) => say(error instanceof TypeError ? "the aggregator does not answer" : error.message, true));
