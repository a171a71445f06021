// The figure: rings by hops on one side, shortcuts on an arc on the other. It draws what is near only.
const LIMIT = { near: 40, far: 90, wide: 24, tall: 12, named: 8 };
const RADIUS = { near: 0.37, far: 0.66, short: 0.93 }; // of the unit of length
const OPENING = Math.sin((52 / 180) * Math.PI); // half the height of the arc of shortcuts
let view = { x: 0, y: 0, k: 1 };

// ---- where everything stands -------------------------------------------------------------------
function neighbourhood(n) {
  const near = [...neighbours[n]].sort((a, b) => classOf(a) - classOf(b) || a - b), shown = near.slice(0, LIMIT.near);
  const children = new Map(shown.map((m) => [m, []])), seen = new Set([n, ...near]);
  let far = 0;
  for (const m of shown) for (const o of neighbours[m]) {
    if (seen.has(o)) continue;
    seen.add(o);
    if (++far <= LIMIT.far) children.get(m).push(o);
  }
  return { near: shown, children, far: Math.min(far, LIMIT.far), hidden: near.length - shown.length + Math.max(0, far - LIMIT.far) };
}
const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, size) {
  ruler.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}
function layout(n) {
  const box = $("graph").getBoundingClientRect(), width = box.width || 800, height = box.height || 600;
  const tall = width < 620, hood = neighbourhood(n);
  const reasons = why[n] ? why[n].shortcuts.slice(0, tall ? LIMIT.tall : LIMIT.wide) : [];
  const texts = reasons.map(([other, weight, , , hops]) => [shorten(nodes.id[other], 22), `${hopText(hops)}, ${share(weight)}`]);
  const label = tall ? 0 : Math.max(0, ...texts.map(([first, second]) => Math.max(widthOf(first, 12.5), widthOf(second, 11.5)))) + 20;
  const back = hood.far ? RADIUS.far : hood.near.length ? RADIUS.near : 0.12, front = reasons.length ? RADIUS.short : back;
  const across = 2 * Math.max(back, reasons.length ? front * OPENING : 0.2);
  const along = (back + front) || 1;
  const unit = Math.min(tall ? 320 : 430, tall ? (width - 36) / across : (height - 130) / across, tall ? (height - 84) / along : (width - 64 - label) / along);
  const centre = tall ? { x: width / 2, y: (height - unit * along) / 2 + unit * back } : { x: (width - unit * along - label) / 2 + unit * back, y: (height - 30) / 2 };
  const span = reasons.length ? (4 / 3) * Math.PI : 2 * Math.PI, middle = tall ? -Math.PI / 2 : Math.PI;
  const plan = { centre, unit, span, middle, tall, hood, places: new Map([[n, { ...centre, r: 13, ring: 0 }]]) };
  placeNeighbours(plan);
  const half = unit * front * OPENING, step = reasons.length > 1 ? (2 * half) / (reasons.length - 1) : 0;
  plan.shortcuts = reasons.map(([other, weight, , , hops], k) => {
    const aside = reasons.length > 1 ? k * step - half : 0, ahead = Math.sqrt((unit * front) ** 2 - aside ** 2);
    const at = tall ? { x: centre.x + aside, y: centre.y + ahead } : { x: centre.x + ahead, y: centre.y + aside };
    return { other, weight, hops, ...at, rank: k + 1, r: 8, text: texts[k], roomy: step > 34 || reasons.length === 1 };
  });
  return plan;
}
function placeNeighbours({ centre, unit, span, middle, hood, places }) {
  const at = (angle, r) => ({ x: centre.x + r * Math.cos(angle), y: centre.y + r * Math.sin(angle) });
  const load = (m) => Math.max(1, 0.55 * hood.children.get(m).length);
  const total = hood.near.reduce((sum, m) => sum + load(m), 0);
  let angle = middle - span / 2;
  for (const m of hood.near) {
    const part = (span * load(m)) / total, own = hood.children.get(m);
    places.set(m, { ...at(angle + part / 2, unit * RADIUS.near), r: hood.near.length > 24 ? 5.5 : 7.5, ring: 1 });
    own.forEach((o, k) => {
      const crowded = own.length * 12 > unit * RADIUS.far * part; // then on two rows
      const r = unit * RADIUS.far + (crowded ? (k % 2 ? 9 : -9) : 0);
      places.set(o, { ...at(angle + (part * (k + 0.5)) / own.length, r), r: hood.far > 45 ? 3.8 : 5, ring: 2 });
    });
    angle += part;
  }
}

// ---- drawing -----------------------------------------------------------------------------------
function draw(n) {
  const plan = layout(n), { centre, places, shortcuts, tall, hood } = plan, scene = svg("g", { id: "scene" });
  scene.append(...rings(plan));
  for (const [a, here] of places) for (const b of neighbours[a]) {
    const there = places.get(b);
    if (there && a < b) scene.append(line(here.ring + there.ring > 1 ? "edge far" : "edge", here, there, 0, 0));
  }
  const strongest = Math.max(...shortcuts.map((s) => s.weight), 1e-12);
  for (const s of shortcuts) scene.append(line("shortcut", centre, s, 21, 11, { "data-node": s.other, "stroke-width": Math.max(0.8, (5 * s.weight) / strongest).toFixed(2) }));
  const named = !tall && hood.near.length <= LIMIT.named;
  for (const [m, place] of [...places].reverse()) if (m !== n) scene.append(mark(m, place, place.ring === 1 ? "near" : "far", named && place.ring === 1 ? under(place, shorten(nodes.id[m], 16)) : null));
  for (const s of shortcuts) scene.append(mark(s.other, s, "distant", tall ? svg("text", { class: "rank", x: s.x, y: s.y + 22, "text-anchor": "middle" }, String(s.rank)) : beside(s)));
  scene.append(mark(n, places.get(n), "centre", nameOf(n, plan)));
  $("graph").replaceChildren(scene);
  caption(n, hood, shortcuts.length);
  legend([n, ...places.keys(), ...shortcuts.map((s) => s.other)], shortcuts.length > 0);
  view = { x: 0, y: 0, k: 1 };
}
function rings({ centre, unit, span, middle, hood }) {
  const from = middle - span / 2, to = middle + span / 2;
  return [[RADIUS.near, "1 hop", hood.near.length], [RADIUS.far, "2 hops", hood.far]].filter((ring) => ring[2]).map(([radius, text]) => {
    const r = unit * radius, point = (t) => `${centre.x + r * Math.cos(t)} ${centre.y + r * Math.sin(t)}`;
    const half = `A${r} ${r} 0 0 1`, path = `M${point(from)}${half} ${point(middle)}${half} ${point(to)}`;
    const name = svg("text", { class: "ring-name", x: centre.x + r * Math.cos(from - 0.08), y: centre.y + r * Math.sin(from - 0.08) + 4, "text-anchor": "middle" }, text);
    return [svg("path", { class: "ring", d: path }), name];
  }).flat();
}
function line(kind, from, to, before, after, more = {}) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1, x = (to.x - from.x) / length, y = (to.y - from.y) / length;
  return svg("line", { class: kind, x1: from.x + x * before, y1: from.y + y * before, x2: to.x - x * after, y2: to.y - y * after, ...more });
}
const under = (place, text, down = 21, anchor = "middle") => svg("text", { class: "name", x: place.x, y: place.y + down, "text-anchor": anchor }, text);
function nameOf(n, { centre, tall, shortcuts }) {
  const text = shorten(nodes.id[n], 26);
  if (tall) return under(centre, text, -24);
  return shortcuts.length ? under({ x: centre.x + 14, y: centre.y }, text, 35, "end") : under(centre, text, 35);
}
function beside(s) {
  const first = svg("tspan", { x: s.x + 16, y: s.y + (s.roomy ? -2 : 4) }, s.text[0]);
  const second = s.roomy ? svg("tspan", { class: "dim", x: s.x + 16, y: s.y + 13 }, s.text[1]) : null;
  return svg("text", { class: "name" }, first, second);
}
function mark(n, place, kind, text) {
  const c = colour(classOf(n)), known = isKnown(n);
  return svg("g", {
    class: `node ${kind}`, "data-node": n, tabindex: kind === "centre" ? 0 : -1, role: "button",
    "aria-label": `${nodes.id[n]}, ${known ? "class" : "predicted"} ${classes[classOf(n)]}`,
  },
    svg("circle", { class: "reach", cx: place.x, cy: place.y, r: Math.max(place.r + 4, 11) }),
    svg("circle", { class: "halo", cx: place.x, cy: place.y, r: place.r + 4 }),
    svg("circle", { cx: place.x, cy: place.y, r: place.r, style: `fill:${known ? c : "var(--ground)"};stroke:${c};stroke-width:${known ? 1 : 2.6}` }), text);
}
function caption(n, hood, drawn) {
  const parts = [], missing = nodes.degree[n] - neighbours[n].length, more = why[n] ? why[n].shortcuts.length - drawn : 0;
  if (hood.hidden) parts.push(`${count(hood.hidden, "node")} nearby not drawn.`);
  if (missing > 0) parts.push(`${count(missing, "neighbour")} of this node not on this page.`);
  if (more > 0) parts.push(`${count(more, "weaker shortcut")} in the table only.`);
  if (nodes.id.length < data.size) parts.push(`This page holds ${whole(nodes.id.length)} of ${count(data.size, "node")}, those around ${nodes.id[data.start]}.`);
  $("cap").textContent = parts.join(" ");
}
function legend(drawn, shortcuts) {
  const sample = (width, ...inside) => svg("svg", { width, height: 12, "aria-hidden": "true" }, ...inside);
  const disc = (known) => sample(12, svg("circle", { cx: 6, cy: 6, r: 4.5, style: `fill:${known ? "var(--soft)" : "none"};stroke:var(--soft);stroke-width:2` }));
  const stroke = (kind) => sample(26, svg("line", { class: kind, x1: 1, x2: 25, y1: 6, y2: 6, "stroke-width": 3 }));
  const own = [...new Set(drawn.map(classOf))].sort((a, b) => a - b).map((c) => el("li", {}, el("span", { class: "dot", style: `border-color:${colour(c)};background:${colour(c)}` }), shorten(classes[c], 28)));
  const rest = [el("li", {}, disc(true), "label known"), el("li", {}, disc(false), "predicted"), el("li", {}, stroke("edge"), "edge")];
  if (shortcuts) rest.push(el("li", {}, stroke("shortcut"), "shortcut, as thick as its weight"));
  $("legend").replaceChildren(...own, ...rest);
}

// ---- moving it -----------------------------------------------------------------------------------
let drag = null;
function moved() {
  $("scene").setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
}
function zoom(factor, x, y) {
  const k = Math.min(6, Math.max(0.5, view.k * factor)), real = k / view.k;
  view = { x: x - (x - view.x) * real, y: y - (y - view.y) * real, k };
  moved();
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
  moved();
});
addEventListener("pointerup", () => { $("graph").classList.remove("dragging"); setTimeout(() => { drag = null; }); });
$("zoom").addEventListener("click", (event) => {
  const factor = Number(event.target.dataset.zoom), box = $("graph").getBoundingClientRect();
  if (factor) zoom(factor, box.width / 2, box.height / 2);
  else { view = { x: 0, y: 0, k: 1 }; moved(); }
});
