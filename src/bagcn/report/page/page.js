// The page: what holds, then one section for each study.

function overview() {
  const claims = data.studies.flatMap((study) => study.claims.map((claim) => ({ ...claim, study })));
  const decided = (kind) => claims.filter((claim) => kindOf(claim.verdict) === kind).length;
  const whole_ = data.studies.filter((study) => study.runs === study.wanted).length;
  const tile = (value, words) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, words));
  const section = el("section", { id: "overview" },
    el("h2", {}, "What holds"),
    el("p", { class: "about" }, "Every sentence of the paper that can be tested, as a rule, held to the runs of this store. Numbers are test accuracies (%) at the epoch of the best validation accuracy, mean ± sd over seeds; click one for its recipe, its command and its runs."),
    el("div", { class: "tiles" },
      tile(whole(data.runs), "runs in the store"),
      tile(`${whole_} of ${data.studies.length}`, "studies complete"),
      tile(`${decided("holds")} of ${claims.length}`, "claims hold"),
      tile(String(decided("noise")), "hold within noise, or say little"),
      tile(String(decided("fails")), "do not hold")));
  return fill(section, {}, [claimsTable(claims, true)]);
}

function claimsTable(claims, everywhere) {
  const chosen = { verdict: "" };
  const detail = (claim) => claim.places.filter((p) => p.difference !== null).map((p) => `${p.place}: ${p.better} against ${p.than} ${signed(p.difference)} (p = ${Number(p.p.toPrecision(2))})`).join("\n");
  const columns = [
    { name: "claim", kind: "wide", value: (claim) => claim.says, cell: (claim) => [claim.says, claim.source === "here" ? el("small", {}, "not in the paper") : null] },
    everywhere ? { name: "study", value: (claim) => claim.study.title, cell: (claim) => el("a", { href: `#${claim.study.name}`, class: "link" }, claim.study.short) } : null,
    new Set(claims.map((claim) => claim.variant)).size > 1 ? { name: "recipes", value: (claim) => claim.variant } : null,
    { name: "by the paper's numbers", value: (claim) => claim.paper, cell: (claim) => (claim.paper === "not enough runs" ? el("span", { class: "none" }, NONE) : verdict(claim.paper)) },
    { name: "by ours", value: (claim) => claim.verdict, cell: (claim) => verdict(claim.verdict) },
    everywhere ? null : { name: "in detail", kind: "wide", cell: (claim) => el("small", {}, detail(claim) || "not enough runs") },
  ].filter(Boolean);
  const { frame, draw } = sortable(columns, claims, { shows: (claim) => !chosen.verdict || claim.verdict === chosen.verdict });
  if (!everywhere) return frame;
  const found = [...new Set(claims.map((claim) => claim.verdict))];
  const chips = ["", ...found].map((name) => chip(name || "all", name === "", () => {
    chosen.verdict = name;
    chips.forEach((other, k) => other.setAttribute("aria-pressed", String(["", ...found][k] === name)));
    draw();
  }));
  return el("div", {}, el("div", { class: "tools" }, chips), frame);
}

function head(study) {
  return [
    el("h2", {}, study.title),
    el("p", { class: "where" }, `The paper: ${study.where} · `, el("code", {}, study.name === "bench" ? "bagcn bench" : `bagcn reproduce ${study.name}`)),
    study.about ? el("p", { class: "about" }, study.about) : null,
    el("p", { class: `state${study.runs === study.wanted ? " whole" : ""}` }, study.state),
  ];
}

// Few tables stand below each other; of many, those of one group and one part are shown.
function tablesOf(study) {
  const place = el("div", {});
  const groups = [...new Set(study.tables.map((table) => table.group))], parts = [...new Set(study.tables.map((table) => table.part))];
  const names = [...new Set(study.tables.flatMap((table) => table.rows.map((row) => row.name)))];
  const ours = (name) => !name.startsWith("BAGCN");
  const places = new Map([...names].sort((a, b) => ours(a) - ours(b)).map((name, k) => [name, k])), hidden = new Set();
  const at = { group: groups[0], part: parts[0] };
  const choice = (key, all) => {
    const chips = all.map((name) => chip(name, name === at[key], () => {
      at[key] = name;
      chips.forEach((other, k) => other.setAttribute("aria-pressed", String(all[k] === name)));
      draw();
    }));
    return el("div", { class: "tools" }, chips);
  };
  function plots() {
    if (!study.figure) {
      const shown = study.tables.flatMap((table) => table.columns.map((_, k) => dots(table, k))).filter(Boolean);
      return shown.length ? [el("h3", {}, "Ours (dots, ± sd) and the paper's (rings)"), el("div", { class: "plots" }, shown)] : [];
    }
    const shown = study.tables.filter((table) => table.columns[0].at !== null && (parts.length === 1 || table.group === at.group));
    const legend = names.map((name) => chip(name, !hidden.has(name), () => {
      if (hidden.has(name)) hidden.delete(name);
      else hidden.add(name);
      draw();
      place.querySelectorAll(".legend .chip")[names.indexOf(name)].focus();
    }, colour(places.get(name))));
    return [el("div", { class: "tools legend", "aria-label": "Curves" }, legend), el("div", { class: "plots" }, shown.map((table) => curves(study.figure, table, table.part || table.group, places, hidden)))];
  }
  function draw() {
    const shown = parts.length === 1 ? study.tables : study.tables.filter((table) => table.group === at.group && table.part === at.part);
    const tables = shown.map((table) => [groups.length > 1 && parts.length === 1 ? el("h3", {}, table.group) : null, resultTable(table)]);
    place.replaceChildren(...[tables, plots()].flat(Infinity).filter(Boolean));
  }
  draw();
  if (parts.length === 1) return place;
  return el("div", {}, choice("group", groups), choice("part", parts), place);
}

function textTable(table) {
  const columns = table.header.map((name, k) => ({ name, number: k >= table.words, kind: k === table.header.length - 1 && k > 2 ? "wide" : "", value: (row) => row[k], cell: (row) => (name === "from all nodes" ? verdict(row[k]) : row[k]) }));
  return [table.title ? el("h3", {}, table.title) : null, sortable(columns, table.rows).frame];
}

function section(study) {
  return el("section", { id: study.name },
    head(study),
    study.tables.length ? tablesOf(study) : null,
    study.cases.length ? el("div", { class: "cases" }, study.cases.map((each) => el("div", {}, drawCase(each, false), drawCase(each, true)))) : null,
    study.texts.map(textTable),
    study.claims.length && !study.texts.length ? [el("h3", {}, "What is claimed"), claimsTable(study.claims, false)] : null,
    study.notes.length ? el("ul", { class: "notes" }, study.notes.map((note) => el("li", {}, note))) : null);
}

function contents() {
  const link = (study) => el("a", { href: `#${study.name}` }, study.short, el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: `width:${(100 * study.runs) / (study.wanted || 1)}%` })));
  return [el("a", { href: "#overview" }, "What holds"), ...data.studies.map(link)];
}

// ---- light and dark --------------------------------------------------------------------------------
const root = document.documentElement;
function keptTheme() { try { return localStorage.getItem("theme"); } catch { return null; } }
root.dataset.theme = keptTheme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
$("theme").addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a page from the disk may not be allowed to */ }
});

$("made").textContent = `bagcn ${data.version}, ${data.date}`;
document.querySelector("main").append(overview(), ...data.studies.map(section));
document.querySelector("nav").append(...contents());
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) document.querySelectorAll("nav a").forEach((a) => a.classList.toggle("here", a.hash === `#${entry.target.id}`));
}, { rootMargin: "-80px 0px -75% 0px" });
document.querySelectorAll("section").forEach((part) => seen.observe(part));
const asked = new URLSearchParams(location.hash.slice(1)).get("number");
const cells = data.studies.flatMap((study) => study.tables.flatMap((table) => table.rows.flatMap((row) => row.cells)));
const linked = asked === null ? undefined : cells.find((cell) => String(cell.number) === asked);
if (linked) openNumber(linked);
else if (location.hash) document.querySelector(`section[id="${CSS.escape(location.hash.slice(1))}"]`)?.scrollIntoView();
