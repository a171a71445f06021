// Tables that sort and filter. A column is { name, number, value(row) for sorting, cell(row) }.

function sortable(columns, rows, options = {}) {
  const body = el("tbody", {});
  const order = { column: -1, down: false };
  const heads = columns.map((column, place) => {
    const head = el("th", { scope: "col", class: [column.number ? "number" : "", column.name.length > 16 ? "long" : ""].join(" ").trim() || null });
    if (column.value) head.append(el("button", { type: "button", onclick: () => sort(place) }, column.name));
    else head.append(el("span", { class: "head" }, column.name));
    return head;
  });
  function sort(place) {
    const first = Boolean(columns[place].number); // numbers: the best first
    if (order.column !== place) Object.assign(order, { column: place, down: first });
    else if (order.down === first) order.down = !first;
    else order.column = -1; // the third click gives back the order of the paper
    heads.forEach((head, k) => {
      if (k === order.column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    draw();
  }
  function sorted() {
    if (order.column < 0) return rows;
    const of = columns[order.column].value;
    const missing = (value) => value === null || value === undefined;
    return [...rows].sort((one, other) => {
      const a = of(one), b = of(other);
      if (missing(a) || missing(b)) return missing(a) - missing(b); // what is missing stays below
      const way = typeof a === "number" ? a - b : String(a).localeCompare(String(b));
      return order.down ? -way : way;
    });
  }
  function draw() {
    const shown = sorted().filter((row) => !options.shows || options.shows(row));
    body.replaceChildren(...shown.map((row) => el("tr", {}, columns.map((column) => fillCell(column, row)))));
    if (!shown.length) body.append(el("tr", {}, el("td", { colspan: columns.length, class: "empty" }, "Nothing fits.")));
  }
  draw();
  const tall = rows.length > 16 ? " tall" : "";
  const frame = el("div", { class: `frame${tall}` }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body));
  return { frame, draw };
}
function fillCell(column, row) {
  const cell = el("td", { class: [column.number ? "number" : "", column.kind ?? ""].join(" ").trim() || null });
  cell.append(...[column.cell ? column.cell(row) : (column.value(row) ?? NONE)].flat().filter((part) => part !== null));
  return cell;
}

// ---- our numbers beside the paper's ----------------------------------------------------------------
function numberCell(cell, best) {
  if (!cell.n && cell.paper === null) return [el("span", { class: "none" }, NONE)];
  const parts = [];
  if (cell.mean === null) parts.push(el("span", { class: "none" }, cell.n ? `${cell.diverged} diverged` : NONE));
  else {
    const sd = cell.sd === null ? null : el("span", { class: "sd" }, ` ± ${fixed(cell.sd)}`);
    const few = cell.n < cell.wanted ? el("small", { class: "few" }, `${cell.n} of ${cell.wanted} runs`) : null;
    const top = best !== null && cell.mean >= best - 1e-9;
    parts.push(el("button", { type: "button", class: `link${top ? " top" : ""}`, "data-number": cell.number, onclick: () => openNumber(cell) }, fixed(cell.mean), sd), few);
    if (cell.diverged) parts.push(el("small", { class: "few" }, `${cell.diverged} diverged`));
  }
  if (cell.paper !== null) {
    const difference = cell.mean === null ? null : cell.mean - cell.paper;
    const way = difference === null ? "" : difference > 0.05 ? "up" : difference < -0.05 ? "down" : "";
    parts.push(el("small", {}, `paper ${spread(cell.paper, cell.paperSd)}`, difference === null ? null : [" · ", el("span", { class: way }, signed(difference))]));
  }
  return parts;
}

function resultTable(table) {
  const highest = (cells) => {
    const means = cells.map((cell) => cell.mean).filter((mean) => mean !== null);
    return means.length > 1 ? Math.max(...means) : null;
  };
  const bests = table.columns.map((_, k) => highest(table.rows.map((row) => row.cells[k])));
  const best = (row, k) => (table.within === "row" ? highest(row.cells) : bests[k]);
  const state = { text: "", variant: "" };
  const columns = [
    { name: table.within === "row" ? "data set" : "model", kind: "name", value: (row) => row.name, cell: (row) => [row.name, table.variants && row.variant !== "official" ? el("small", {}, row.variant) : null] },
    ...table.columns.map((column, k) => ({ name: column.name, number: true, value: (row) => row.cells[k].mean, cell: (row) => numberCell(row.cells[k], best(row, k)) })),
  ];
  const fits = (row) => row.name.toLowerCase().includes(state.text) && (!state.variant || row.variant === state.variant);
  const { frame, draw } = sortable(columns, table.rows, { shows: fits });
  const tools = el("div", { class: "tools" });
  if (table.rows.length > 6) {
    const typed = (event) => { state.text = event.target.value.trim().toLowerCase(); draw(); };
    tools.append(el("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter the rows by name", oninput: typed }));
  }
  const variants = [...new Set(table.rows.map((row) => row.variant))];
  if (table.variants && variants.length > 1) {
    const chips = ["", ...variants].map((name) => chip(name || "all recipes", name === "", () => {
      state.variant = name;
      chips.forEach((other) => other.setAttribute("aria-pressed", String(other.textContent === (name || "all recipes"))));
      draw();
    }));
    tools.append(...chips);
  }
  return el("div", { class: "result" }, tools.childElementCount ? tools : null, frame);
}
