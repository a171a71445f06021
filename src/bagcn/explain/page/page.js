"use strict";
// The page walks from node to node. Every text of the user's goes through textContent, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const { nodes, neighbours, why, classes } = data;
const byId = new Map(nodes.id.map((id, place) => [id, place]).reverse());
const $ = (id) => document.getElementById(id);
const LIMIT = { near: 40, far: 90 }; // nodes drawn one and two hops away
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#2aa5a0", "#d4a514", "#ec6fa0", "#9c755f", "#7d8794"];
const colour = (c) => (c < 0 ? "var(--faint)" : c < PALETTE.length ? PALETTE[c] : `hsl(${(c * 137.5) % 360} 50% 55%)`);
let focus = -1, walked = [], view = { x: 0, y: 0, k: 1 };

// ---- small helpers -------------------------------------------------------------------------
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const percent = (p, digits = 0) => `${(100 * p).toFixed(digits)} %`;
const share = (w) => `${Number((100 * w).toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 6 })} %`;
const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const classOf = (n) => (nodes.known[n] >= 0 ? nodes.known[n] : nodes.predicted[n]);
const dot = (n) => {
  const c = colour(classOf(n));
  return el("span", { class: "dot", style: `border-color:${c};background:${nodes.known[n] >= 0 ? c : "transparent"}` });
};
function hopText(hops) {
  return hops < 0 ? "other component" : count(hops, "hop");
}
function change(difference) {
  const points = 100 * difference, size = Math.abs(points);
  if (size < 0.005) return el("span", { class: "still" }, "±0");
  const text = `${points > 0 ? "+" : "−"}${size.toFixed(size < 1 ? 2 : 1)}`;
  return el("span", { class: points > 0 ? "up" : "down" }, text);
}

// ---- where everything stands: rings by hops on the left, shortcuts on an arc to the right ----
function neighbourhood(n) {
  const order = (list) => [...list].sort((a, b) => classOf(a) - classOf(b) || a - b);
  const near = order(neighbours[n]), shownNear = near.slice(0, LIMIT.near);
  const parent = new Map([[n, n], ...shownNear.map((m) => [m, n])]);
  const all = new Set([n, ...near]), far = [];
  for (const m of shownNear) for (const o of neighbours[m]) if (!all.has(o)) { all.add(o); far.push(o); parent.set(o, m); }
  const shownFar = far.slice(0, LIMIT.far);
  return { near: shownNear, far: shownFar, parent, hidden: near.length - shownNear.length + far.length - shownFar.length };
}
function layout(n) {
  const box = $("graph").getBoundingClientRect(), width = box.width || 800, height = box.height || 600;
  const tall = width < 620, hood = neighbourhood(n), reasons = why[n] ? why[n].shortcuts : [];
  const room = tall ? Math.min(width * 0.9, height * 0.86) : Math.min(width, height * 1.12);
  const unit = Math.min(room / 2, 400), radius = { near: unit * 0.36, far: unit * 0.66, short: unit * (tall ? 0.9 : 0.93) };
  const centre = tall ? { x: width / 2, y: height * 0.44 } : { x: width * 0.46, y: height * 0.5 };
  const middle = tall ? -Math.PI / 2 : Math.PI, span = (240 / 180) * Math.PI; // the neighbourhood's sector
  const at = (angle, r) => ({ x: centre.x + r * Math.cos(angle), y: centre.y + r * Math.sin(angle) });
  const places = new Map([[n, { ...centre, r: 13, ring: 0 }]]);
  const children = new Map(hood.near.map((m) => [m, hood.far.filter((o) => hood.parent.get(o) === m)]));
  const load = (m) => 1 + 0.7 * children.get(m).length;
  const total = hood.near.reduce((sum, m) => sum + load(m), 0) || 1;
  let angle = middle - span / 2;
  for (const m of hood.near) {
    const part = (span * load(m)) / total, own = children.get(m);
    places.set(m, { ...at(angle + part / 2, radius.near), r: hood.near.length > 24 ? 5.5 : 7.5, ring: 1 });
    own.forEach((o, k) => {
      const room = radius.far * part, crowded = own.length * 12 > room; // then on two rows
      const r = radius.far + (crowded ? (k % 2 ? 9 : -9) : 0);
      places.set(o, { ...at(angle + (part * (k + 0.5)) / own.length, r), r: hood.far.length > 45 ? 3.6 : 4.6, ring: 2 });
    });
    angle += part;
  }
  const opening = ((tall ? 118 : 104) / 180) * Math.PI, opposite = middle + Math.PI;
  const shortcuts = reasons.map(([other, weight, p, predicted, hops], k) => {
    const turn = reasons.length > 1 ? k / (reasons.length - 1) - 0.5 : 0, a = opposite + opening * (tall ? -turn : turn);
    return { other, weight, p, predicted, hops, rank: k + 1, angle: a, r: 8, ...at(a, radius.short) };
  });
  return { centre, radius, middle, span, places, shortcuts, tall, hood };
}

// ---- drawing -----------------------------------------------------------------------------------
function draw(n) {
  const plan = layout(n), { centre, radius, places, shortcuts, tall } = plan;
  const scene = svg("g", { id: "scene" });
  const from = plan.middle - plan.span / 2, to = plan.middle + plan.span / 2;
  const arc = (r, a, b) => {
    const point = (t) => `${centre.x + r * Math.cos(t)} ${centre.y + r * Math.sin(t)}`;
    return `M${point(a)}A${r} ${r} 0 ${b - a > Math.PI ? 1 : 0} 1 ${point(b)}`;
  };
  const ringName = (r, text) => svg("text", { class: "ring-name", x: centre.x + r * Math.cos(from) + 6, y: centre.y + r * Math.sin(from) + 12 }, text);
  if (plan.hood.near.length) scene.append(svg("path", { class: "ring", d: arc(radius.near, from, to) }), ringName(radius.near, "1 hop"));
  if (plan.hood.far.length) scene.append(svg("path", { class: "ring", d: arc(radius.far, from, to) }), ringName(radius.far, "2 hops"));
  for (const [a, here] of places) for (const b of neighbours[a]) {
    const there = places.get(b);
    if (there && a < b) scene.append(svg("line", { class: here.ring + there.ring > 1 ? "edge far" : "edge", x1: here.x, y1: here.y, x2: there.x, y2: there.y }));
  }
  const strongest = Math.max(...shortcuts.map((s) => s.weight), 1e-12);
  for (const s of shortcuts) {
    const thickness = (6 * (s.weight / strongest)).toFixed(2);
    scene.append(svg("line", { class: "shortcut", "data-node": s.other, "stroke-width": thickness, x1: centre.x, y1: centre.y, x2: s.x, y2: s.y }));
  }
  for (const [m, place] of [...places].reverse()) if (m !== n) scene.append(mark(m, place, place.ring === 1 ? "near" : "far"));
  for (const s of shortcuts) scene.append(mark(s.other, s, "distant", label(s, tall)));
  scene.append(mark(n, places.get(n), "centre", svg("text", { class: "name", x: centre.x, y: centre.y + (tall ? -24 : 32), "text-anchor": "middle" }, shorten(nodes.id[n], 26))));
  $("graph").replaceChildren(scene);
  caption(n, plan.hood);
  view = { x: 0, y: 0, k: 1 };
}
function label(s, tall) {
  if (tall) return svg("text", { class: "rank", x: s.x, y: s.y + 22, "text-anchor": "middle" }, String(s.rank));
  const text = svg("text", { class: "name", x: s.x + 16, y: s.y + 4 }, shorten(nodes.id[s.other], 18), " ");
  text.append(svg("tspan", { class: "dim" }, hopText(s.hops)));
  return text;
}
function mark(n, place, kind, text = null) {
  const c = colour(classOf(n)), known = nodes.known[n] >= 0;
  const group = svg("g", {
    class: `node ${kind}`, "data-node": n, tabindex: kind === "centre" ? 0 : -1, role: "button",
    "aria-label": `${nodes.id[n]}, ${known ? "class" : "predicted"} ${classes[classOf(n)]}`,
  });
  group.append(
    svg("circle", { class: "halo", cx: place.x, cy: place.y, r: place.r + 4 }),
    svg("circle", { cx: place.x, cy: place.y, r: place.r, fill: known ? c : "var(--ground)", stroke: c, "stroke-width": known ? 1 : 2.4 }),
  );
  if (text) group.append(text);
  return group;
}
function caption(n, hood) {
  const parts = [];
  if (hood.hidden) parts.push(`${count(hood.hidden, "further neighbour")} not drawn.`);
  const missing = nodes.degree[n] - neighbours[n].length;
  if (missing > 0) parts.push(`${count(missing, "neighbour")} of this node not on this page.`);
  if (!data.whole) parts.push(`This page holds ${nodes.id.length.toLocaleString("en")} of ${count(data.size, "node")}, those around ${nodes.id[data.start]}.`);
  $("cap").textContent = parts.join(" ");
}
function legend(n) {
  const seen = new Set([n, ...neighbours[n], ...(why[n] ? why[n].shortcuts.map((s) => s[0]) : [])].map(classOf));
  const sample = (...inside) => svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, ...inside);
  const disc = (f, s) => svg("circle", { cx: 13, cy: 6, r: 4.5, fill: f, stroke: s, "stroke-width": 2 });
  const dash = svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: "var(--accent)", "stroke-width": 3, "stroke-dasharray": "7 5" });
  const edge = svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: "var(--edge)", "stroke-width": 1.5 });
  $("legend").replaceChildren(
    ...[...seen].sort((a, b) => a - b).map((c) => el("li", {}, el("span", { class: "dot", style: `border-color:${colour(c)};background:${colour(c)}` }), shorten(classes[c], 28))),
    el("li", {}, sample(disc("var(--soft)", "var(--soft)")), "label known"),
    el("li", {}, sample(disc("transparent", "var(--soft)")), "predicted"),
    el("li", {}, sample(edge), "edge"),
    el("li", {}, sample(dash), "shortcut, as thick as its weight"),
  );
}

// ---- the panel ---------------------------------------------------------------------------------
const walkTo = (n, text) => el("button", { class: "walk", type: "button", "data-node": n, title: nodes.id[n], onclick: () => walk(n) }, text || nodes.id[n]);
const cls = (n) => el("span", { class: "class" }, dot(n), el("span", { title: classes[classOf(n)] }, classes[classOf(n)]));

function panel(n) {
  $("panel").replaceChildren(el("h2", {}, nodes.id[n]), verdict(n), ...(why[n] ? explained(n) : unexplained(n)), ...around(n), ...traits(n));
  $("panel").scrollTop = 0;
}
function verdict(n) {
  const known = nodes.known[n], predicted = nodes.predicted[n];
  const p = el("p", { class: "lead" }, "Predicted ", el("b", {}, classes[predicted]), ` with ${percent(nodes.confidence[n])}. `);
  if (known < 0) p.append("Its label is not known.");
  else if (known === predicted) p.append(nodes.trained[n] ? "That is its label, which was learnt from." : "That is its label.");
  else p.append("Its label is ", el("b", {}, classes[known]), nodes.trained[n] ? ", which was learnt from." : ".");
  return p;
}
function unexplained(n) {
  return [el("p", { class: "note" }, `The reasons for ${count(data.explained, "node")} around ${nodes.id[data.start]} are on this page, and this is none of them. For its own:`),
    el("p", {}, el("code", {}, `bagcn explain MODEL --node '${nodes.id[n]}' --html page.html`))];
}
function explained(n) {
  const { probabilities } = why[n], predicted = nodes.predicted[n];
  const order = probabilities.map((p, c) => [p, c]).sort((a, b) => b[0] - a[0]).slice(0, 5);
  const bars = el("dl", { class: "bars" }, order.map(([p, c]) => [
    el("dt", { title: classes[c] }, classes[c]),
    el("dd", { class: "track" }, el("i", { style: `width:${100 * p}%;background:${colour(c)}` })),
    el("dd", { class: "number" }, percent(p, 1)),
  ]));
  const p = probabilities[predicted];
  return [bars, el("h3", {}, "What the prediction rests on"), parts(n, p), el("h3", {}, "Shortcuts to distant nodes"), ...shortcutTable(n, p)];
}
function outcome(value, predicted, own) {
  return el("td", {}, predicted === own ? percent(value, 1) : el("span", {}, `${percent(value, 1)}, then `, el("b", {}, classes[predicted])));
}
function parts(n, p) {
  const names = ["its own features", "its edges", "all shortcuts"], own = nodes.predicted[n];
  return el("table", { class: "parts" },
    el("thead", {}, el("tr", {}, el("th", {}, "Without"), el("th", {}, shorten(classes[own], 22)), el("th", { class: "number" }, "points"))),
    el("tbody", {}, why[n].parts.map(([value, predicted], k) => el("tr", {}, el("td", {}, names[k]), outcome(value, predicted, own), el("td", { class: "number" }, change(value - p))))));
}
function shortcutTable(n, p) {
  const { shortcuts, spread } = why[n], own = nodes.predicted[n];
  if (!shortcuts.length) return [el("p", {}, "No node is further than one hop away.")];
  const same = shortcuts.filter(([other]) => classOf(other) === own).length;
  const even = spread > 0.5 * data.size ? " No single one stands out." : "";
  const rows = shortcuts.map(([other, weight, without, predicted, hops], k) => el("tr", { "data-node": other },
    el("td", { class: "rank" }, String(k + 1)), el("td", { class: "who" }, walkTo(other)), el("td", {}, cls(other)),
    el("td", {}, hops < 0 ? el("span", { title: "in another component" }, "apart") : count(hops, "hop")),
    el("td", { class: "number", title: `${(weight * data.size).toFixed(2)} times an even share` }, share(weight)),
    el("td", { class: "number" }, change(without - p), predicted === own ? null : el("b", { title: `then ${classes[predicted]}` }, " ⚑"))));
  return [
    el("p", { class: "note" }, `${same} of ${shortcuts.length} have the predicted class. The attention is spread over about ${Math.round(spread).toLocaleString("en")} of ${count(data.size, "node")}; an even share is ${share(1 / data.size)}.${even}`),
    el("table", { id: "shortcuts" }, el("thead", {}, el("tr", {}, ["", "Node", "Class", "Distance"].map((t) => el("th", {}, t)), el("th", { class: "number" }, "Weight"), el("th", { class: "number", title: "change of the predicted probability without it, in points" }, "If cut"))), el("tbody", {}, rows)),
  ];
}
function around(n) {
  const list = neighbours[n], same = list.filter((m) => classOf(m) === nodes.predicted[n]).length;
  if (!list.length) return [el("h3", {}, "Neighbours"), el("p", {}, nodes.degree[n] ? "Its neighbours are not on this page." : "None: it stands alone.")];
  const chip = (m) => el("button", { type: "button", "data-node": m, onclick: () => walk(m) }, dot(m), el("span", {}, nodes.id[m]));
  const rest = list.length > 24 ? el("p", { class: "note" }, `and ${list.length - 24} more`) : null;
  return [el("h3", {}, count(nodes.degree[n], "neighbour")), el("p", { class: "note" }, `${same} of ${list.length} have the predicted class.`), el("div", { class: "chips" }, list.slice(0, 24).map(chip)), ...(rest ? [rest] : [])];
}
function traits(n) {
  const list = nodes.features[n];
  if (!list.length) return [];
  return [el("h3", {}, "Most telling features"), el("table", {}, el("tbody", {}, list.map(([f, v]) => el("tr", {}, el("td", {}, data.features[f]), el("td", { class: "number" }, String(v))))))];
}

// ---- walking -----------------------------------------------------------------------------------
function show(n) {
  focus = n;
  hideTip();
  draw(n);
  legend(n);
  panel(n);
  $("back").disabled = !walked.length;
}
function walk(n, keepFocus = false) {
  if (n === focus) return;
  walked.push(focus);
  show(n);
  history.replaceState(null, "", `#node=${encodeURIComponent(nodes.id[n])}`);
  if (keepFocus) $("graph").querySelector(".centre").focus();
}
function back() {
  if (walked.length) show(walked.pop());
}

// ---- hovering ------------------------------------------------------------------------------------
function tip(n, x, y) {
  const known = nodes.known[n], facts = [["class", known >= 0 ? classes[known] : "not known"], ["predicted", `${classes[nodes.predicted[n]]}, ${percent(nodes.confidence[n])}`], ["neighbours", nodes.degree[n]]];
  const traitRows = nodes.features[n].slice(0, 5).map(([f, v]) => [data.features[f], v]);
  const rows = (list) => el("dl", {}, list.map(([name, value]) => [el("dt", {}, String(name)), el("dd", {}, String(value))]));
  $("tip").replaceChildren(el("strong", {}, nodes.id[n]), rows(facts), rows(traitRows));
  $("tip").hidden = false;
  const box = $("tip").getBoundingClientRect();
  $("tip").style.left = `${Math.max(8, Math.min(x + 16, innerWidth - box.width - 8))}px`;
  $("tip").style.top = `${Math.max(8, Math.min(y + 16, innerHeight - box.height - 8))}px`;
  light(n, true);
}
function hideTip() {
  $("tip").hidden = true;
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
}
function light(n) {
  for (const other of document.querySelectorAll(`[data-node="${n}"]`)) if (other.matches(".node, .shortcut, tr")) other.classList.add("lit");
}
const nodeAt = (event) => { const found = event.target.closest("[data-node]"); return found ? Number(found.dataset.node) : -1; };

$("graph").addEventListener("pointerover", (event) => { const n = nodeAt(event); if (n >= 0) { hideTip(); tip(n, event.clientX, event.clientY); } });
$("graph").addEventListener("pointerout", hideTip);
$("panel").addEventListener("pointerover", (event) => { const n = nodeAt(event); hideTip(); if (n >= 0) light(n); });
$("panel").addEventListener("pointerleave", hideTip);
$("graph").addEventListener("focusin", (event) => {
  const n = nodeAt(event);
  if (n < 0 || !event.target.matches(":focus-visible")) return;
  const box = event.target.getBoundingClientRect();
  hideTip();
  tip(n, box.right, box.bottom);
});
$("graph").addEventListener("focusout", hideTip);

// ---- moving the figure ---------------------------------------------------------------------------
let drag = null;
function place() {
  const scene = $("scene");
  if (scene) scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
}
function zoom(factor, x, y) {
  const k = Math.min(6, Math.max(0.5, view.k * factor)), real = k / view.k;
  view = { x: x - (x - view.x) * real, y: y - (y - view.y) * real, k };
  place();
}
$("graph").addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = $("graph").getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
$("graph").addEventListener("pointerdown", (event) => {
  if (event.pointerType === "mouse" && event.button === 0) drag = { x: event.clientX, y: event.clientY, from: { ...view }, moved: false };
});
addEventListener("pointermove", (event) => {
  if (!drag) return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (Math.hypot(dx, dy) > 4) drag.moved = true;
  if (!drag.moved) return;
  $("graph").classList.add("dragging");
  view = { ...drag.from, x: drag.from.x + dx, y: drag.from.y + dy };
  place();
});
addEventListener("pointerup", () => { $("graph").classList.remove("dragging"); setTimeout(() => { drag = null; }); });
$("graph").addEventListener("click", (event) => { const n = nodeAt(event); if (n >= 0 && !(drag && drag.moved)) walk(n); });
$("zoom").addEventListener("click", (event) => {
  const factor = Number(event.target.dataset.zoom), box = $("graph").getBoundingClientRect();
  if (factor) zoom(factor, box.width / 2, box.height / 2);
  else { view = { x: 0, y: 0, k: 1 }; place(); }
});

// ---- keys ------------------------------------------------------------------------------------------
$("graph").addEventListener("keydown", (event) => {
  const marks = [...$("graph").querySelectorAll(".node")].reverse(), here = marks.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && here >= 0) { marks[(here + step + marks.length) % marks.length].focus(); event.preventDefault(); }
  if ((event.key === "Enter" || event.key === " ") && here >= 0) { walk(Number(marks[here].dataset.node), true); event.preventDefault(); }
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  if (event.key === "/") { $("search").focus(); event.preventDefault(); }
  if (event.key === "Backspace") back();
  if (event.key === "Escape") hideTip();
});
$("back").addEventListener("click", back);

// ---- searching ---------------------------------------------------------------------------------------
const lowered = nodes.id.map((id) => id.toLowerCase());
let hits = [], chosen = 0;
function matches(text) {
  const wanted = text.trim().toLowerCase(), first = [], then = [], last = [];
  if (!wanted) return [];
  for (let n = 0; n < lowered.length; n++) {
    const at = lowered[n].indexOf(wanted);
    if (at === 0 && lowered[n].length === wanted.length) first.push(n);
    else if (at === 0 && then.length < 8) then.push(n);
    else if (at > 0 && last.length < 8) last.push(n);
  }
  return [...first, ...then, ...last].slice(0, 8);
}
function offer() {
  hits = matches($("search").value);
  chosen = 0;
  const none = el("li", { class: "none" }, data.whole ? "No such node" : "No such node on this page");
  const item = (n, k) => el("li", { role: "option", id: `hit-${k}`, "data-node": n, "aria-selected": String(k === chosen) }, dot(n), el("span", {}, nodes.id[n]), el("small", {}, classes[classOf(n)]));
  $("found").replaceChildren(...(hits.length ? hits.map(item) : [none]));
  open($("search").value.trim() !== "");
}
function open(shown) {
  $("found").hidden = !shown;
  $("search").setAttribute("aria-expanded", String(shown));
  if (shown && hits.length) $("search").setAttribute("aria-activedescendant", `hit-${chosen}`);
  else $("search").removeAttribute("aria-activedescendant");
}
function take(n) {
  $("search").value = "";
  open(false);
  $("search").blur();
  walk(n);
}
$("search").addEventListener("input", offer);
$("search").addEventListener("focus", offer);
$("search").addEventListener("blur", () => setTimeout(() => open(false), 150));
$("search").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) {
    chosen = (chosen + step + hits.length) % hits.length;
    [...$("found").children].forEach((li, k) => li.setAttribute("aria-selected", String(k === chosen)));
    open(true);
    event.preventDefault();
  }
  if (event.key === "Enter" && hits.length) take(hits[chosen]);
  if (event.key === "Escape") { $("search").value = ""; open(false); $("search").blur(); }
});
$("found").addEventListener("pointerdown", (event) => { const n = nodeAt(event); if (n >= 0) { event.preventDefault(); take(n); } });

// ---- light and dark ------------------------------------------------------------------------------------
const system = matchMedia("(prefers-color-scheme: dark)");
let theme = null;
try { theme = localStorage.getItem("bagcn-theme"); } catch { /* storage may be switched off */ }
function paint() { document.documentElement.dataset.theme = theme || (system.matches ? "dark" : "light"); }
$("theme").addEventListener("click", () => {
  theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("bagcn-theme", theme); } catch { /* then for this visit only */ }
  paint();
});
system.addEventListener("change", paint);
paint();

let later = 0;
addEventListener("resize", () => { clearTimeout(later); later = setTimeout(() => draw(focus), 120); });
const asked = new URLSearchParams(location.hash.slice(1)).get("node");
show(asked !== null && byId.has(asked) ? byId.get(asked) : data.start);
