// Plots: curves with bands, dots with whiskers, and the seeds of one number.
const W = 460, H = 290, LEFT = 44, RIGHT = 14, TOP = 10, BOTTOM = 42;

function ticks(low, high) {
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((size) => (high - low) / size <= 6) ?? 100;
  const out = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9; at += step) out.push(Number(at.toFixed(6)));
  return out;
}
function scaled(figure, values) {
  const bend = { log: Math.log, linear: (x) => x, symlog: (x) => Math.sign(x) * (Math.abs(x) <= figure.linear ? Math.abs(x) / figure.linear : 1 + Math.log(Math.abs(x) / figure.linear)) }[figure.scale];
  const low = bend(Math.min(...values)), high = bend(Math.max(...values));
  return (x) => LEFT + 12 + ((bend(x) - low) / (high - low || 1)) * (W - LEFT - RIGHT - 24);
}
function limits(values) {
  const low = Math.min(...values), high = Math.max(...values), pad = Math.max(0.5, (high - low) * 0.08);
  return [Math.max(0, low - pad), Math.min(100, high + pad)];
}

function curves(figure, table, title, places, hidden) {
  const series = table.rows.map((row) => ({
    name: row.name,
    place: places.get(row.name),
    points: row.cells.map((cell, k) => ({ at: table.columns[k].at, cell })).filter(({ cell }) => cell.mean !== null),
    paper: row.cells.map((cell, k) => ({ at: table.columns[k].at, value: cell.paper })).filter(({ value }) => value !== null),
  })).filter((line) => !hidden.has(line.name));
  const known = series.flatMap((line) => [
    ...line.points.flatMap(({ cell }) => [cell.mean - (cell.sd ?? 0), cell.mean + (cell.sd ?? 0)]),
    ...line.paper.map(({ value }) => value),
  ]);
  const frame = el("div", { class: "plot" }, title ? el("h4", {}, title) : null);
  if (!known.length) return fill(frame, {}, [el("p", { class: "empty" }, "No runs yet.")]);
  const x = scaled(figure, table.columns.map((column) => column.at));
  const [low, high] = limits(known);
  const y = (value) => TOP + ((high - value) / (high - low)) * (H - TOP - BOTTOM);
  const path = (points) => points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const guide = svg("line", { class: "guide", y1: TOP, y2: H - BOTTOM, visibility: "hidden" });
  let last = -Infinity;
  const names = table.columns.filter((column) => {
    const room = x(column.at) - last > 6 + 3.4 * column.name.length + 10;
    if (room) last = x(column.at);
    return room;
  });
  const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title || "Curves"}: accuracy by ${figure.x}` },
    ticks(low, high).map((at) => [svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(at), y2: y(at) }), svg("text", { x: LEFT - 8, y: y(at) + 4, "text-anchor": "end" }, String(at))]),
    names.map((column) => svg("text", { x: x(column.at), y: H - BOTTOM + 18, "text-anchor": "middle" }, column.name)),
    svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 5, "text-anchor": "middle" }, table.part || figure.x),
    guide,
    series.map((line) => {
      const up = line.points.map(({ at, cell }) => [x(at), y(cell.mean + (cell.sd ?? 0))]);
      const down = line.points.map(({ at, cell }) => [x(at), y(cell.mean - (cell.sd ?? 0))]).reverse();
      return svg("g", { class: line.name.startsWith("BAGCN") ? "strong" : null, style: colour(line.place), "data-line": line.name },
        up.length > 1 ? svg("path", { class: "band", d: `${path([...up, ...down])}Z` }) : null,
        line.paper.length > 1 ? svg("path", { class: "curve paper", d: path(line.paper.map(({ at, value }) => [x(at), y(value)])) }) : null,
        svg("path", { class: "curve", d: path(line.points.map(({ at, cell }) => [x(at), y(cell.mean)])) }),
        line.points.map(({ at, cell }) => svg("circle", { class: "point", cx: x(at), cy: y(cell.mean), r: 3.6 })));
    }));
  const move = (event) => {
    const box = drawing.getBoundingClientRect();
    const here = ((event.clientX - box.left) / box.width) * W;
    const column = table.columns.reduce((one, other) => (Math.abs(x(other.at) - here) < Math.abs(x(one.at) - here) ? other : one));
    fill(guide, { x1: x(column.at), x2: x(column.at), visibility: "visible" }, []);
    const rows = series.map((line) => [line, line.points.find(({ at }) => at === column.at)]).filter(([, point]) => point);
    rows.sort(([, a], [, b]) => b.cell.mean - a.cell.mean);
    tip(event, `${table.part || figure.x}: ${column.name}`, rows.map(([line, { cell }]) => [line.name, spread(cell.mean, cell.sd), line.place]));
  };
  drawing.addEventListener("pointermove", move);
  drawing.addEventListener("pointerleave", () => { hideTip(); guide.setAttribute("visibility", "hidden"); });
  return fill(frame, {}, [drawing]);
}

// One column of a table: ours as dots with whiskers, the paper's as rings, the best above.
function dots(table, k) {
  const rows = table.rows.filter((row) => row.cells[k].mean !== null).sort((a, b) => b.cells[k].mean - a.cells[k].mean);
  const frame = el("div", { class: "plot" }, el("h4", {}, table.columns[k].name));
  if (!rows.length) return null;
  const values = rows.flatMap(({ cells: { [k]: c } }) => [c.mean - (c.sd ?? 0), c.mean + (c.sd ?? 0), ...(c.paper === null ? [] : [c.paper])]);
  const label = (row) => row.name + (table.variants && row.variant !== "official" ? `, ${row.variant}` : "");
  const left = 28 + 6.9 * Math.max(...rows.map((row) => label(row).length)); // room for the longest
  const [low, high] = limits(values), height = rows.length * 23 + 34;
  const x = (value) => left + ((value - low) / (high - low)) * (W - left - 16);
  const drawing = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": `Accuracies on ${table.columns[k].name}` },
    ticks(low, high).map((at) => [svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 4, y2: height - 24 }), svg("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, String(at))]),
    rows.map((row, line) => {
      const c = row.cells[k], y = 16 + line * 23;
      const lines = [["ours", spread(c.mean, c.sd)], ...(c.paper === null ? [] : [["the paper", spread(c.paper, c.paperSd)], ["difference", signed(c.mean - c.paper)]]), ["runs", String(c.n)]];
      return svg("g", { style: colour(row.name.startsWith("BAGCN") ? 0 : 9), onpointermove: (event) => tip(event, label(row), lines), onpointerleave: hideTip },
        svg("rect", { x: 0, y: y - 11, width: W, height: 22, fill: "transparent" }),
        svg("text", { x: left - 12, y: y + 4, "text-anchor": "end" }, label(row)),
        svg("line", { class: "whisker", x1: x(c.mean - (c.sd ?? 0)), x2: x(c.mean + (c.sd ?? 0)), y1: y, y2: y }),
        c.paper === null ? null : svg("circle", { class: "printed", cx: x(c.paper), cy: y, r: 4 }),
        svg("circle", { class: "point", cx: x(c.mean), cy: y, r: 4.6 }));
    }));
  return fill(frame, {}, [drawing]);
}

function seedsPlot(runs) {
  const values = runs.filter((run) => run[2] !== null).map((run) => 100 * run[2]);
  if (values.length < 2) return null;
  const [low, high] = limits(values), height = 66;
  const x = (value) => 20 + ((value - low) / (high - low)) * (W - 40);
  return el("div", { class: "plot" }, svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": "Test accuracy of every seed" },
    ticks(low, high).map((at) => [svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 4, y2: height - 22 }), svg("text", { x: x(at), y: height - 6, "text-anchor": "middle" }, String(at))]),
    runs.filter((run) => run[2] !== null).map((run, k) => svg("circle", { class: "point", style: colour(0), cx: x(100 * run[2]), cy: 14 + (k % 4) * 8, r: 5, onpointermove: (event) => tip(event, `seed ${run[1]}`, [["test", fixed(100 * run[2])], ["validation", fixed(100 * run[3])]]), onpointerleave: hideTip }))));
}

// ---- a case study: the ego graph of a node, without and with its shortcuts --------------------------
function drawCase(each, withShortcuts) {
  const far = (k) => each.hops[k] < 0 || each.hops[k] > 3;
  const shown = each.nodes.map((_, k) => k).filter((k) => withShortcuts || !far(k));
  const [xs, ys] = [0, 1].map((axis) => each.points.map((point) => point[axis]));
  const size = 300, pad = 14;
  const half = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) / 2 || 1;
  const middle = [xs, ys].map((values) => (Math.max(...values) + Math.min(...values)) / 2);
  const at = (k) => each.points[k].map((value, axis) => size / 2 + ((value - middle[axis]) / half) * (size / 2 - pad));
  const line = (kind, a, b) => svg("line", { class: kind, x1: at(a)[0], y1: at(a)[1], x2: at(b)[0], y2: at(b)[1] });
  const place = (k) => (k === each.centre ? "the node itself" : each.hops[k] < 0 ? "in another component" : count(each.hops[k], "hop") + " away");
  const node = (k) => svg("circle", {
    class: `node${k === each.centre ? " centre" : ""}`, style: colour(each.classes[k]), cx: at(k)[0], cy: at(k)[1], r: k === each.centre ? 8 : 4.4,
    onpointermove: (event) => tip(event, `node ${each.nodes[k]}`, [["class", String(each.classes[k])], ["where", place(k)], ...(each.shortcuts.includes(k) ? [["weight", each.weights[each.shortcuts.indexOf(k)].toPrecision(2)]] : [])]),
    onpointerleave: hideTip,
  });
  const same = each.shortcuts.filter((k) => each.classes[k] === each.classes[each.centre]).length;
  const words = withShortcuts ? `${each.shortcuts.length} shortcuts: ${each.shortcuts.filter(far).length} beyond 3 hops, ${same} of its class` : "all nodes within 3 hops";
  return el("div", { class: "plot case" }, el("h4", {}, `${each.title}${withShortcuts ? ", with shortcuts" : ""}`),
    svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `${each.title}: ${words}` },
      each.edges.map(([a, b]) => line("edge", a, b)),
      withShortcuts ? each.shortcuts.map((k) => line("shortcut", each.centre, k)) : null,
      shown.filter((k) => k !== each.centre).map(node), node(each.centre)),
    el("p", {}, words));
}
