"use strict";
// What the page shows, and small helpers. Every text of the user's goes through textContent, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const { nodes, neighbours, why, classes } = data; // why[n] is there for the first nodes only
const $ = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null));
  return element;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const whole = (n) => n.toLocaleString("en");
const count = (n, one, many = one + "s") => `${whole(n)} ${n === 1 ? one : many}`;
const percent = (p) => `${(100 * p).toFixed(1)}%`;
const share = (w) => `${(100 * w).toLocaleString("en", { maximumSignificantDigits: 2, minimumSignificantDigits: 2 })}%`;
const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const hopText = (hops) => (hops < 0 ? "other component" : count(hops, "hop"));

const isKnown = (n) => nodes.known[n] >= 0;
const classOf = (n) => (isKnown(n) ? nodes.known[n] : nodes.predicted[n]);
const colour = (c) => (c < 10 ? `var(--class-${c})` : `hsl(${(c * 137.5) % 360} 50% 55%)`);
const dot = (n) => el("span", { class: "dot", style: `border-color:${colour(classOf(n))};background:${isKnown(n) ? colour(classOf(n)) : "transparent"}` });
