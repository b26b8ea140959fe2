// Summary, memory, what was left out, duplicates and passes.

function summaryView(image) {
  const { functions } = image;
  const kernels = functions.kind.filter((kind) => kind === 1).length;
  const wasted = image.duplicates.reduce((sum, it) => sum + it.size * (it.functions.length - 1), 0);
  const parts = [
    el("h2", {}, "Summary"),
    facts(
      ["File", el("span", { class: "name" }, image.name)],
      ["Code for", image.arch + (image.linked ? ", linked" : "")],
      ["Size", bytes(image.size)],
      ["Memory", bytes(image.memory)],
      ["Kernels", String(kernels)],
      ["Other functions", String(functions.kind.filter((kind) => kind === 0).length)],
      wasted ? ["Identical code", `${bytes(wasted)} could go`] : null,
    ),
  ];
  if (DATA.link) {
    const { dropped, passes } = DATA.link;
    const left = dropped.totals.reduce((sum, [, , size]) => sum + size, 0);
    parts.push(facts(
      ["Pipeline", `${DATA.link.pipeline}, ${passes.length} passes`],
      ["Left out", bytes(left)],
      ...dropped.totals.map(([reason, count, size]) => ["", `${reason}: ${count} sections, ${bytes(size)}`]),
    ));
  }
  const kinds = sizeTree(image, "section", "file"), templates = sizeTree(image, "template", "file");
  const sizes = (title, rows) => table([
    { title: "Bytes", number: true, value: (row) => row.size, show: (row) => bytes(row.size) },
    { title: "Share", number: true, value: (row) => row.size, show: (row) => percent(row.size, kinds.size) },
    { title, value: (row) => row.name, class: "name" },
  ], rows);
  parts.push(el("div", { class: "split" },
    el("div", {}, el("h2", {}, "Kinds of sections"), sizes("Kind", childrenOf(kinds))),
    el("div", {}, el("h2", {}, "Functions and variables, templates as one"), sizes("Name", childrenOf(templates).filter((row) => row.name[0] !== "[").slice(0, 30)))));
  if (DATA.images.length > 1) {
    parts.push(el("h2", {}, "Images"), table([
      { title: "Bytes", number: true, value: (row) => row.size, show: (row) => bytes(row.size) },
      { title: "Code for", value: (row) => row.arch },
      { title: "File", value: (row) => row.name, class: "name" },
    ], DATA.images));
  }
  parts.push(el("p", { class: "faint" }, `Made by ${DATA.tool}.`));
  return el("div", {}, ...parts);
}

/** Draws entries `[name, offset, size]` of a range of memory as a bar. */
function bar(entries, size) {
  const spans = [];
  let at = 0;
  const add = (name, start, length, gap) => {
    if (length > 0) {
      spans.push(el("span", {
        class: gap ? "gap" : undefined, style: `flex: ${length} 1 0;${gap ? "" : `background: ${color(name, 80)}`}`,
        title: `${name}: ${hex(start)}, ${length} B`,
      }, name));
    }
  };
  for (const [name, offset, length] of entries) {
    if (offset > at) add("unnamed", at, offset - at, true);
    add(name, Math.max(offset, at), Math.min(offset + length, size) - Math.max(offset, at), false);
    at = Math.max(at, offset + length);
  }
  if (at < size) add("unnamed", at, size - at, true);
  return el("div", { class: "bar" }, ...spans);
}

const FIRST_MAPS = 30;

function memoryView(image, graph, open) {
  const owner = (row) => el("button", { type: "button", class: "link name", click: () => open(row) }, graph.name(row));
  const show = (blocks, draw) => {
    const shown = blocks.slice(0, FIRST_MAPS).map(draw);
    if (blocks.length > FIRST_MAPS) {
      const rest = el("details", {}, el("summary", {}, `${blocks.length - FIRST_MAPS} more`));
      rest.addEventListener("toggle", () => { if (rest.childElementCount === 1) rest.append(...blocks.slice(FIRST_MAPS).map(draw)); });
      shown.push(rest);
    }
    return shown.length ? shown : [el("p", { class: "faint" }, "none")];
  };
  const entry = ([name, offset, size]) => el("tr", {}, el("td", { class: "number" }, hex(offset)), el("td", { class: "number" }, bytes(size)), el("td", { class: "name" }, name));
  const listed = (entries) => entries.length ? el("details", {}, el("summary", {}, `${entries.length} named`), el("table", {}, ...entries.slice(0, 2000).map(entry))) : null;
  const shared = image.shared.slice().sort((a, b) => b.size - a.size);
  const banks = image.constants.slice().sort((a, b) => (a.function === null ? 0 : 1) - (b.function === null ? 0 : 1) || b.size - a.size);
  const named = (bank) => bank.entries.map(([name, offset, size]) => [/^\d+$/.test(name) ? `parameter ${name}` : name, offset, size]);
  return el("div", {},
    el("h2", {}, "Shared memory of kernels"),
    el("p", { class: "faint" }, "What is unnamed is padding, or of variables whose names the file does not have: the report of a link has them all."),
    ...show(shared, (block) => el("div", { class: "map" }, owner(block.function), ` ${bytes(block.size)} a block`, bar(block.variables, block.size), listed(block.variables))),
    el("h2", {}, "Constant banks"),
    ...show(banks, (bank) => el("div", { class: "map" }, el("span", { class: "name" }, bank.section), " ", bank.function === null ? "" : owner(bank.function), ` ${bytes(bank.size)}`,
      bar(named(bank), bank.size), listed(named(bank)))));
}

function droppedView() {
  const { dropped } = DATA.link;
  const reasons = {
    unreachable: "no kernel that stays reaches it", unreferenced: "a kernel that no host code refers to", discarded: "another definition of the name was taken",
    replaced: "a later definition of the name took its place", folded: "another function has the same code", "left-out": "this kind of link leaves it out",
  };
  const rows = dropped.size.map((_, row) => row);
  const all = dropped.totals.reduce((sum, [, count]) => sum + count, 0);
  return el("div", {}, el("h2", {}, "Left out"),
    el("table", {}, ...dropped.totals.map(([reason, count, size]) => el("tr", {}, el("td", { class: "number" }, bytes(size)), el("td", { class: "number" }, String(count)), el("td", {}, reason), el("td", { class: "faint" }, reasons[reason] || "")))),
    all > rows.length ? el("p", { class: "faint" }, `The largest ${rows.length} of ${all} are listed.`) : null,
    table([
      { title: "Bytes", number: true, value: (row) => dropped.size[row], show: (row) => bytes(dropped.size[row]) },
      { title: "Reason", value: (row) => dropped.labels[dropped.reason[row]] },
      { title: "Object", value: (row) => dropped.labels[dropped.object[row]], class: "name" },
      { title: "Section", value: (row) => dropped.section[row], class: "name" },
      { title: "Taken instead", value: (row) => dropped.instead[row] === null ? "" : dropped.labels[dropped.instead[row]] },
    ], rows, { search: (row) => `${dropped.labels[dropped.reason[row]]} ${dropped.labels[dropped.object[row]]} ${dropped.section[row]}`, label: "Search sections" }));
}

function duplicatesView(image, graph, open) {
  const wasted = (it) => it.size * (it.functions.length - 1);
  return el("div", {}, el("h2", {}, "Functions with the same code"),
    el("p", { class: "faint" }, "Functions of one group have the same bytes and relocations. The pass fold-identical-functions links one of each group."),
    table([
      { title: "Could go", number: true, value: wasted, show: (it) => bytes(wasted(it)) },
      { title: "Copies", number: true, value: (it) => it.functions.length },
      { title: "Each", number: true, value: (it) => it.size, show: (it) => bytes(it.size) },
      { title: "Functions", value: (it) => graph.name(it.functions[0]), show: (it) => el("div", {}, ...it.functions.slice(0, 20).map((row) => el("div", {},
        el("button", { type: "button", class: "link name", click: () => open(row) }, graph.name(row)))), it.functions.length > 20 ? `… and ${it.functions.length - 20} more` : null) },
    ], image.duplicates, { search: (it) => it.functions.map((row) => graph.name(row)).join(" ") }));
}

function diffView(diff) {
  const lines = diff.text.split("\n").slice(0, -1).map((line) => el("span", { class: { "+": "added", "-": "removed" }[line[0]] }, line || " "));
  return el("div", {}, el("pre", { class: "diff" }, ...lines), diff.omitted ? el("p", { class: "faint" }, `${diff.omitted} more lines; --dump-changed=diff writes them.`) : null);
}

function passesView() {
  const { passes, pipeline } = DATA.link;
  const all = passes.reduce((sum, pass) => sum + (pass.ms || 0), 0);
  const timed = passes.some((pass) => pass.ms !== undefined);
  const row = (pass) => {
    const changes = pass.diff ? pass.diff.added || pass.diff.removed ? `+${pass.diff.added} −${pass.diff.removed} lines` : "no change" : pass.changed ? "changed" : "no change";
    const head = `${pass.number}. ${pass.name}`;
    const more = el("details", { id: `pass-${pass.number}` }, el("summary", {}, el("b", {}, head), ` ${pass.summary} `, el("span", { class: "faint" },
      [changes, pass.ms !== undefined ? `${pass.ms.toFixed(3)} ms, ${percent(pass.ms, all)}` : null, pass.via.length ? `from ${pass.via.join(", ")}` : null].filter(Boolean).join(" · "))));
    if (timed) more.append(el("div", { class: "bar", style: "height: 8px" }, el("span", { style: `flex: ${pass.ms} 1 0; background: ${color(pass.name, 60)}` }), el("span", { style: `flex: ${all - pass.ms} 1 0` })));
    if (pass.counters.length) more.append(el("table", {}, ...pass.counters.map(([name, count]) => el("tr", {}, el("td", { class: "number" }, String(count)), el("td", {}, name)))));
    // Diffs are made when they are looked at: there are many lines.
    more.addEventListener("toggle", () => {
      if (more.open && pass.diff && pass.diff.text && !more.querySelector("pre")) more.append(diffView(pass.diff));
    });
    return more;
  };
  return el("div", {}, el("h2", {}, `Passes of the pipeline ${pipeline}`),
    el("p", { class: "faint" }, passes.some((pass) => pass.diff) ? "Lines are those of the module's text form, before and after the pass." : "The module is too large for its text to be compared around each pass."),
    timed ? el("p", {}, `${all.toFixed(3)} ms in passes`) : null,
    ...passes.map(row));
}
