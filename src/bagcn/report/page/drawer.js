// What stands behind a number: recipe, command and runs.
let opener = null;

function openNumber(cell) {
  const number = data.numbers[cell.number];
  opener = document.activeElement;
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", onclick: closeDrawer }, "✕");
  const recipes = number.recipes.length > 1 ? `recipes ${number.recipes.join(", ")}` : `recipe ${number.recipes[0]}`;
  const paper = cell.paper === null ? null : el("p", {}, `The paper prints ${spread(cell.paper, cell.paperSd)}; ours differs by ${signed(cell.mean - cell.paper)}.`);
  $("drawer").replaceChildren(
    close,
    el("h2", {}, `${number.model} on ${number.title}`),
    el("p", { class: "where" }, [number.variant, number.attack && `attack ${number.attack}`, recipes].filter(Boolean).join(" · ")),
    el("p", { class: "big" }, fixed(cell.mean, 2), cell.sd === null ? null : el("span", { class: "sd" }, ` ± ${fixed(cell.sd, 2)}`)),
    el("p", {}, `Test accuracy (%) of ${count(cell.n, "run")}${cell.n < cell.wanted ? ` of ${cell.wanted}` : ""}.`),
    paper,
    seedsPlot(number.runs) ?? "",
    el("h3", {}, "Command"),
    command(number.command),
    el("h3", {}, "Recipe"),
    el("p", {}, el("b", {}, number.recipe), number.source ? `: ${number.source}` : ""),
    el("dl", { class: "settings" }, Object.entries(number.settings).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    el("h3", {}, "Runs"),
    runsTable(number.runs),
    el("p", { class: "where" }, [...new Set(number.runs.map((run) => data.words[run[7]]))].filter(Boolean).join("; ")),
  );
  $("drawer").hidden = false;
  $("drawer").scrollTop = 0;
  $("drawer").focus({ preventScroll: true });
  history.replaceState(null, "", `#number=${cell.number}`);
}
function closeDrawer() {
  if ($("drawer").hidden) return;
  $("drawer").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  if (opener && opener.isConnected) opener.focus({ preventScroll: true });
}
function command(text) {
  const copy = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); copy.textContent = "copied"; } catch { getSelection().selectAllChildren(code); copy.textContent = "selected"; }
    setTimeout(() => { copy.textContent = "copy"; }, 1500);
  } }, "copy");
  const code = el("code", {}, text);
  return el("div", { class: "command" }, code, copy);
}
function runsTable(runs) {
  const percent = (place) => (run) => (run[place] === null ? null : 100 * run[place]);
  const shown = (place) => (run) => (run[place] === null ? (place === 2 ? "diverged" : NONE) : fixed(100 * run[place], 2));
  return sortable([
    { name: "seed", number: true, value: (run) => run[1] },
    { name: "test", number: true, value: percent(2), cell: shown(2) },
    { name: "val.", number: true, value: percent(3), cell: shown(3) },
    { name: "epoch", number: true, value: (run) => (run[4] === null ? null : run[4] + 1) },
    { name: "s", number: true, value: (run) => run[5], cell: (run) => fixed(run[5]) },
    { name: "on", kind: "keep", value: (run) => data.words[run[6]] },
    { name: "date", kind: "keep", value: (run) => run[8] },
    { name: "id", kind: "keep", value: (run) => run[0], cell: (run) => el("code", {}, run[0]) },
  ], runs).frame;
}
addEventListener("keydown", (event) => { if (event.key === "Escape") closeDrawer(); });
