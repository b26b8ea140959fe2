"use strict";
// What all views use. Texts of inputs are set as text, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** Makes an element; children are elements or texts, and functions among the attributes listeners. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a number of bytes for people, with units of 1,024. */
function bytes(count) {
  let size = count;
  for (const unit of ["", " Ki", " Mi", " Gi", " Ti"]) {
    if (Math.abs(size) < 1024 || unit === " Ti") {
      return (unit === "" ? String(size) : size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)) + unit + (unit === "" ? " B" : "B");
    }
    size /= 1024;
  }
}

function percent(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(1) + "%" : "";
}

function hex(number) {
  return "0x" + number.toString(16);
}

/** Returns a color for a text, always the same. */
function color(text, light) {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return `hsl(${(hash >>> 0) % 360} 55% ${light}%)`;
}

const FIRST_ROWS = 200;

/**
 * Makes a table that sorts and searches. A column has a title, `value(row)` to sort by and, if that is no text to show, `show(row)`. `search(row)`
 * returns the text in which words are looked for.
 */
function table(columns, rows, { sort = 0, descending = true, search = null, label = "Search" } = {}) {
  let shown = FIRST_ROWS, wanted = "";
  const body = el("tbody"), note = el("p", { class: "faint" });
  const heads = columns.map((column, index) => {
    const press = el("button", { type: "button", click: () => {
      descending = sort === index ? !descending : Boolean(column.number);
      sort = index;
      draw();
    } }, column.title);
    return el("th", { class: column.number ? "number" : undefined, scope: "col" }, press);
  });
  function draw() {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    let found = words.length && search ? rows.filter((row) => {
      const text = search(row).toLowerCase();
      return words.every((word) => text.includes(word));
    }) : rows.slice();
    const value = columns[sort].value;
    const order = descending ? -1 : 1;
    found.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return (x < y ? -1 : 1) * order;
    });
    heads.forEach((head, index) => {
      if (index === sort) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(...found.slice(0, shown).map((row) => el("tr", {}, ...columns.map((column) => {
      const content = column.show ? column.show(row) : column.value(row);
      return el("td", { class: column.number ? "number" : column.class }, content === null || content === undefined ? "" : content instanceof Node ? content : String(content));
    }))));
    note.replaceChildren(`${Math.min(shown, found.length)} of ${found.length}${words.length ? " that match" : ""} `);
    if (found.length > shown) {
      note.append(el("button", { type: "button", click: () => { shown *= 5; draw(); } }, "Show more"));
    }
  }
  const parts = [];
  if (search) {
    const input = el("input", { type: "search", placeholder: label, "aria-label": label, input: () => { wanted = input.value; shown = FIRST_ROWS; draw(); } });
    parts.push(el("div", { class: "controls" }, input));
  }
  parts.push(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body), note);
  draw();
  return el("div", {}, ...parts);
}

function facts(...pairs) {
  return el("dl", {}, ...pairs.filter(Boolean).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}
