"use strict";
// What the page shows, and small helpers. Every text goes through textContent, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const NONE = "–";
const whole = (n) => n.toLocaleString("en");
const fixed = (value, digits = 1) => value.toFixed(digits).replace("-", "−");
const signed = (value) => (Math.abs(value) < 0.05 ? "±0.0" : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(1));
const spread = (mean, sd) => (sd === null ? fixed(mean) : `${fixed(mean)} ± ${fixed(sd)}`);
const count = (n, one, many = one + "s") => `${whole(n)} ${n === 1 ? one : many}`;
const colour = (place) => `--colour:var(--c${place % 10})`;
const VERDICTS = { holds: "holds", "not enough runs": "", "not enough nodes": "" };
const kindOf = (text) => VERDICTS[text] ?? (text.startsWith("holds") ? "noise" : "fails");
const verdict = (text) => el("span", { class: `verdict ${kindOf(text)}` }, text);

function chip(text, pressed, act, style = null) {
  const mark = style === null ? null : el("i", { "aria-hidden": "true" });
  return el("button", { type: "button", class: "chip", "aria-pressed": String(pressed), style, onclick: act }, mark, text);
}

// ---- the tooltip ---------------------------------------------------------------------------------
function tip(event, title, rows) {
  const list = rows.map(([name, value, place]) => [
    el("dt", place === undefined ? {} : { style: colour(place) }, place === undefined ? null : el("i", {}), name),
    el("dd", {}, value),
  ]);
  $("tip").replaceChildren(el("strong", {}, title), el("dl", {}, list));
  $("tip").hidden = false;
  const box = $("tip").getBoundingClientRect();
  const left = event.clientX + 16 + box.width > innerWidth - 8 ? event.clientX - 16 - box.width : event.clientX + 16;
  $("tip").style.left = `${Math.max(8, left)}px`;
  $("tip").style.top = `${Math.max(8, Math.min(event.clientY + 16, innerHeight - box.height - 8))}px`;
}
const hideTip = () => { $("tip").hidden = true; };
