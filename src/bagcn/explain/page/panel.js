// The panel: what is predicted for a node, and why, in words and numbers.
const CHIPS = 24; // neighbours that are listed
const cell = (...children) => el("td", {}, ...children);
const number = (...children) => el("td", { class: "number" }, ...children);
const head = (numbers, ...names) => el("thead", {}, el("tr", {}, names.map((name, k) => el("th", { scope: "col", class: k >= names.length - numbers ? "number" : null }, name))));

function panel(n) {
  const own = isKnown(n) ? `its label is ${classes[nodes.known[n]]}` : "its label is not known";
  $("said").textContent = `${nodes.id[n]}: predicted ${classes[nodes.predicted[n]]}, ${own}`;
  $("panel").replaceChildren(el("h2", {}, nodes.id[n]), verdict(n), ...(why[n] ? explained(n) : unexplained(n)), ...around(n), ...traits(n));
  $("panel").scrollTop = 0;
}
function verdict(n) {
  const known = nodes.known[n], predicted = nodes.predicted[n], learnt = nodes.trained[n];
  const text = el("p", { class: "lead" }, "Predicted ", el("b", {}, classes[predicted]), ` with ${percent(nodes.confidence[n])}. `);
  if (known < 0) text.append("Its label is not known.");
  else if (known === predicted) text.append(learnt ? "That is its label, which was learnt from." : "That is its label.");
  else text.append("Its label is ", el("b", {}, classes[known]), learnt ? ", which was learnt from." : ".");
  return text;
}
function unexplained(n) {
  const quoted = `'${nodes.id[n].replaceAll("'", "'\\''")}'`;
  return [el("p", { class: "note" }, `This page holds the reasons for ${count(data.explained, "node")} around ${nodes.id[data.start]}, and not for this one. For its own page:`),
    el("p", {}, el("code", {}, `bagcn explain MODEL --node ${quoted} --html page.html`))];
}
function explained(n) {
  const { probabilities, parts, shortcuts } = why[n], own = nodes.predicted[n], p = probabilities[0][1];
  const bars = el("dl", { class: "bars" }, probabilities.map(([c, value]) => [
    el("dt", { title: classes[c] }, classes[c]),
    el("dd", { class: "track" }, el("i", { style: `width:${100 * value}%;background:${colour(c)}` })),
    el("dd", { class: "number" }, percent(value)),
  ]));
  const names = ["its own features", "its neighbours", "all shortcuts"];
  const rows = parts.map(([value, then], k) => el("tr", {}, cell(names[k]), number(effect(value, then, own, p))));
  return [bars, el("h3", {}, "What the prediction rests on"),
    el("table", { id: "parts" }, head(1, "Without", shorten(classes[own], 24)), el("tbody", {}, rows)),
    el("h3", {}, shortcuts.length ? "Shortcuts to distant nodes" : "No shortcuts"), ...shortcutTable(n, p)];
}
function effect(value, then, own, before) {
  const points = 100 * (value - before), size = Math.abs(points);
  const sign = size < 0.005 ? "±" : points > 0 ? "+" : "−", kind = size < 0.005 ? "still" : points > 0 ? "up" : "down";
  const change = el("span", { class: `change ${kind}` }, sign + (size < 0.005 ? "0" : size.toFixed(size < 1 ? 2 : 1)));
  return [percent(value), " ", change, then === own ? null : el("b", { class: "then" }, `then ${classes[then]}`)];
}
function shortcutTable(n, p) {
  const { shortcuts, spread } = why[n], own = nodes.predicted[n];
  if (!shortcuts.length) return [el("p", {}, "No node is further than one hop away.")];
  const same = shortcuts.filter(([other]) => classOf(other) === own).length;
  const even = spread > 0.5 * data.size ? " No single one stands out." : "";
  const rows = shortcuts.map(([other, weight, without, then, hops], k) => el("tr", { "data-node": other },
    el("td", { class: "rank" }, String(k + 1)),
    el("td", { class: "who" }, el("div", { class: "one" }, dot(other), walkTo(other)), el("small", {}, `${isKnown(other) ? "label" : "predicted"} ${classes[classOf(other)]}, ${hopText(hops)}`)),
    number(share(weight), el("small", {}, `${(weight * data.size).toFixed(1)} × even`)), number(effect(without, then, own, p))));
  return [
    el("p", { class: "note" }, `${same} of ${shortcuts.length} have the predicted class. The attention is spread over about ${whole(Math.round(spread))} of ${count(data.size, "node")}; an even share is ${share(1 / data.size)}.${even}`),
    el("table", { id: "shortcuts" }, head(2, "", "Node", "Weight", "Without it"), el("tbody", {}, rows)),
  ];
}
const walkTo = (n) => el("button", { class: "walk", type: "button", "data-node": n, title: nodes.id[n], onclick: () => walk(n) }, nodes.id[n]);
function around(n) {
  const list = neighbours[n], same = list.filter((m) => classOf(m) === nodes.predicted[n]).length;
  if (!list.length) return [el("h3", {}, "Neighbours"), el("p", {}, nodes.degree[n] ? "Its neighbours are not on this page." : "None: it stands alone.")];
  const chip = (m) => el("button", { type: "button", "data-node": m, onclick: () => walk(m) }, dot(m), el("span", {}, nodes.id[m]));
  const rest = nodes.degree[n] > CHIPS ? el("p", { class: "note" }, `and ${whole(nodes.degree[n] - CHIPS)} more`) : "";
  return [el("h3", {}, count(nodes.degree[n], "neighbour")), el("p", { class: "note" }, `${same} of ${list.length} have the predicted class.`), el("div", { class: "chips" }, list.slice(0, CHIPS).map(chip)), rest];
}
function traits(n) {
  const list = nodes.facts[n];
  if (!list.length) return [];
  return [el("h3", {}, "What is known of it"), el("table", { id: "facts" }, el("tbody", {}, list.map(([f, value]) => el("tr", {}, cell(data.facts[f]), number(String(value))))))];
}
