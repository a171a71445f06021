// Walking from node to node, searching, hovering, keys, light and dark.
const byId = new Map(nodes.id.map((id, place) => [id, place]).reverse());
let focus = -1, depth = 0;

// ---- walking -----------------------------------------------------------------------------------
function show(n) {
  focus = n;
  hideTip();
  draw(n);
  panel(n);
  $("back").disabled = depth === 0;
}
function walk(n, keepFocus = false) {
  if (n === focus) return;
  depth += 1;
  history.pushState({ depth }, "", `#node=${encodeURIComponent(nodes.id[n])}`);
  show(n);
  if (keepFocus) $("graph").querySelector(".centre").focus();
}
function asked() {
  const id = new URLSearchParams(location.hash.slice(1)).get("node");
  return id !== null && byId.has(id) ? byId.get(id) : data.start;
}
addEventListener("popstate", (event) => {
  depth = event.state ? event.state.depth : 0;
  show(asked());
});
$("back").addEventListener("click", () => history.back());

// ---- hovering ------------------------------------------------------------------------------------
function tip(n, x, y) {
  const label = isKnown(n) ? classes[nodes.known[n]] : "not known";
  const rows = [["label", label], ["predicted", `${classes[nodes.predicted[n]]}, ${percent(nodes.confidence[n])}`], ["neighbours", whole(nodes.degree[n])]];
  for (const [f, value] of nodes.facts[n]) rows.push([data.facts[f], String(value)]);
  $("tip").replaceChildren(el("strong", {}, nodes.id[n]), el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
  $("tip").hidden = false;
  const box = $("tip").getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth - 8 ? x - 16 - box.width : x + 16;
  $("tip").style.left = `${Math.max(8, left)}px`;
  $("tip").style.top = `${Math.max(8, Math.min(y + 16, innerHeight - box.height - 8))}px`;
  light(n);
}
function hideTip() {
  $("tip").hidden = true;
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
}
function light(n) {
  for (const other of document.querySelectorAll(`[data-node="${n}"]`)) if (other.matches(".node, .shortcut, tr")) other.classList.add("lit");
}
const nodeAt = (event) => { const found = event.target.closest("[data-node]"); return found ? Number(found.dataset.node) : -1; };

$("graph").addEventListener("pointerover", (event) => {
  const n = nodeAt(event);
  hideTip();
  if (n >= 0 && event.pointerType === "mouse") tip(n, event.clientX, event.clientY);
});
$("graph").addEventListener("pointerleave", hideTip);
$("panel").addEventListener("pointerover", (event) => { const n = nodeAt(event); hideTip(); if (n >= 0) light(n); });
$("panel").addEventListener("pointerleave", hideTip);
$("graph").addEventListener("click", (event) => { const n = nodeAt(event); if (n >= 0 && !(drag && drag.moved)) walk(n); });
$("graph").addEventListener("focusin", (event) => {
  const n = nodeAt(event);
  if (n < 0 || !event.target.matches(":focus-visible")) return;
  const box = event.target.getBoundingClientRect();
  hideTip();
  tip(n, box.right, box.bottom);
});
$("graph").addEventListener("focusout", hideTip);

// ---- keys ------------------------------------------------------------------------------------------
$("graph").addEventListener("keydown", (event) => {
  const marks = [...$("graph").querySelectorAll(".node")].reverse(), here = marks.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && here >= 0) { marks[(here + step + marks.length) % marks.length].focus(); event.preventDefault(); }
  if ((event.key === "Enter" || event.key === " ") && here >= 0) { walk(Number(marks[here].dataset.node), true); event.preventDefault(); }
  if (event.key === "Escape") hideTip();
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.activeElement === $("search")) return;
  if (event.key === "/") { $("search").focus(); event.preventDefault(); }
  if (event.key === "Backspace" && depth) { history.back(); event.preventDefault(); }
});

// ---- searching ---------------------------------------------------------------------------------------
const HITS = 8, lowered = nodes.id.map((id) => id.toLowerCase());
let hits = [], chosen = 0;
function matches(text) {
  const wanted = text.trim().toLowerCase(), ranked = [[], [], []]; // the same, begins with it, holds it
  if (!wanted) return [];
  for (let n = 0; n < lowered.length; n += 1) {
    const at = lowered[n].indexOf(wanted);
    if (at >= 0) ranked[at ? 2 : lowered[n].length === wanted.length ? 0 : 1].push(n);
  }
  const order = (a, b) => lowered[a].length - lowered[b].length || (lowered[a] < lowered[b] ? -1 : 1);
  return ranked.flatMap((group) => group.sort(order)).slice(0, HITS);
}
function offer() {
  hits = matches($("search").value);
  chosen = 0;
  const none = el("li", { class: "none" }, nodes.id.length === data.size ? "No such node" : "No such node on this page");
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
function leave() {
  $("search").value = "";
  open(false);
  $("search").blur();
}
$("search").addEventListener("input", offer);
$("search").addEventListener("focus", offer);
$("search").addEventListener("blur", () => open(false));
$("search").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && hits.length) {
    chosen = (chosen + step + hits.length) % hits.length;
    [...$("found").children].forEach((li, k) => li.setAttribute("aria-selected", String(k === chosen)));
    open(true);
    event.preventDefault();
  }
  if (event.key === "Enter" && hits.length) { const n = hits[chosen]; leave(); walk(n); }
  if (event.key === "Escape") leave();
});
$("found").addEventListener("pointerdown", (event) => {
  event.preventDefault(); // the focus stays, so that the list does not close before the click
  const n = nodeAt(event);
  if (n >= 0) { leave(); walk(n); }
});

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

let later = 0;
addEventListener("resize", () => { clearTimeout(later); later = setTimeout(() => draw(focus), 120); });
paint();
show(asked());
