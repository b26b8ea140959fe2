// Functions: what they need, what they call, and why they are there.

/** The call graph of an image. Nodes are functions, then prototypes by which functions are called. */
class Graph {
  constructor(image) {
    this.image = image;
    this.count = image.functions.name.length;
    this.callees = image.callees;
    this.callers = image.callees.map(() => []);
    image.callees.forEach((list, from) => list.forEach((to) => this.callers[to].push(from)));
  }

  isKernel(node) {
    return node < this.count && this.image.functions.kind[node] === 1;
  }

  name(node) {
    const { functions, prototypes } = this.image;
    return node < this.count ? functions.source[node] || functions.name[node] : `any function of the type ${prototypes[node - this.count]}`;
  }

  /** Returns a shortest chain of calls from a kernel; `null` if no kernel reaches the node. */
  chain(wanted) {
    if (!this.parents) {
      this.parents = new Array(this.callees.length).fill(undefined);
      const work = [];
      for (let node = 0; node < this.count; node++) {
        if (this.isKernel(node)) { this.parents[node] = null; work.push(node); }
      }
      for (let at = 0; at < work.length; at++) {
        for (const next of this.callees[work[at]]) {
          if (this.parents[next] === undefined) { this.parents[next] = work[at]; work.push(next); }
        }
      }
    }
    if (this.parents[wanted] === undefined) return null;
    const chain = [];
    for (let node = wanted; node !== null; node = this.parents[node]) chain.unshift(node);
    return chain;
  }

  /** Computes the deepest path from each node: its bytes, `Infinity` with recursion or what no compiler knows, and the next node. */
  deepest(start) {
    const { frame, stack } = this.image.functions;
    const own = (node) => (node >= this.count ? 0 : stack[node] === -1 ? Infinity : frame[node] || 0);
    this.paths = this.paths || new Map();
    const open = new Set([start]), work = [[start, 0]];
    while (work.length && !this.paths.has(start)) {
      const top = work[work.length - 1], [node, at] = top;
      const next = this.callees[node][at];
      if (next !== undefined && !this.paths.has(next) && !open.has(next)) {
        open.add(next);
        work.push([next, 0]);
        continue;
      }
      if (next !== undefined) { top[1]++; continue; }
      let best = { bytes: 0, next: null };
      for (const callee of this.callees[node]) {
        const bytes = this.paths.has(callee) ? this.paths.get(callee).bytes : Infinity;
        if (best.next === null || bytes > best.bytes) best = { bytes, next: callee };
      }
      this.paths.set(node, { bytes: best.bytes + own(node), next: best.next });
      open.delete(node);
      work.pop();
    }
    return this.paths.get(start);
  }

  /** Returns the nodes of the deepest path, the first one that comes again included. */
  deepestPath(start) {
    this.deepest(start);
    const path = [], seen = new Set();
    for (let node = start; node !== null && node !== undefined; node = (this.paths.get(node) || { next: null }).next) {
      path.push(node);
      if (seen.has(node)) break;
      seen.add(node);
    }
    return path;
  }

  /** Returns all nodes that a node reaches, itself first. */
  reached(start) {
    const seen = new Set([start]), work = [start];
    for (let at = 0; at < work.length; at++) {
      for (const next of this.callees[work[at]]) if (!seen.has(next)) { seen.add(next); work.push(next); }
    }
    return work;
  }
}

const ROOTS = { nothing: "all kernels stay", options: "an option names it", host: "host code refers to it" };

/** Says why the depth of a path is unknown, which comes back to a node if it is recursion. */
function unknownDepth(path) {
  const isRecursion = path.indexOf(path[path.length - 1]) < path.length - 1;
  return isRecursion ? "Deepest calls: recursion, of unknown depth" : "Deepest calls: a stack that the compiler does not know";
}

function stackText(image, row) {
  const { stack, frame } = image.functions;
  if (stack[row] === -1) return "unknown";
  return stack[row] ?? frame[row];
}

function functionsView(image, graph, chosen) {
  const { functions } = image;
  const detail = el("div", { class: "detail" }, el("p", { class: "faint" }, "Choose a function to see who calls it, why it is there, and what makes up its stack and registers."));
  const link = (node) => node < graph.count
    ? el("button", { type: "button", class: "link name", click: () => show(node) }, graph.name(node)) : el("span", { class: "name" }, graph.name(node));
  const listOf = (nodes, tag = "ul") => nodes.length
    ? el(tag, {}, ...nodes.slice(0, FIRST_ROWS).map((node) => el("li", {}, link(node))), ...(nodes.length > FIRST_ROWS ? [el("li", {}, `… and ${nodes.length - FIRST_ROWS} more`)] : []))
    : el("p", { class: "faint" }, "none");
  function why(node) {
    if (functions.kind[node] === 2) return el("p", {}, "It is defined elsewhere.");
    const known = DATA.link && DATA.link.known_by;
    const root = known ? ROOTS[known] : "host code may launch it";
    const chain = graph.chain(node);
    if (!chain) return el("p", {}, image.linked ? "No kernel calls it. It stays because its address is taken, or because the link keeps all code." : "No kernel of this object calls it.");
    return el("ol", {}, ...chain.map((step, at) => el("li", {}, link(step), at === 0 ? ` kernel: ${root}` : step < graph.count ? "" : " by address")));
  }
  function show(node) {
    const row = node;
    const path = graph.deepestPath(node);
    const { bytes: depth } = graph.deepest(node);
    const reached = graph.reached(node).filter((other) => other < graph.count && functions.registers[other] !== null);
    reached.sort((a, b) => functions.registers[b] - functions.registers[a] || a - b);
    const most = reached.filter((other) => other !== node)[0];
    const object = functions.object[row];
    detail.replaceChildren(
      el("h2", { class: "name" }, graph.name(node)),
      facts(
        functions.source[row] ? ["Symbol", el("span", { class: "name" }, functions.name[row])] : null,
        ["Kind", ["function", "kernel", "defined elsewhere"][functions.kind[row]]],
        object !== null && object !== undefined ? ["Object", el("span", { class: "name" }, image.labels[object])] : null,
        ["Code", bytes(functions.code[row])],
        functions.constants[row] ? ["Constants", bytes(functions.constants[row])] : null,
        functions.shared[row] ? ["Shared memory", bytes(functions.shared[row])] : null,
        ["Registers", String(functions.registers[row] ?? "unknown")],
        ["Stack of its own", functions.frame[row] === null ? "unknown" : bytes(functions.frame[row])],
        functions.stack[row] !== null ? ["Stack with calls", functions.stack[row] === -1 ? "unknown" : bytes(functions.stack[row])] : null,
      ),
      el("h3", {}, "Why is it there?"), why(node),
      el("h3", {}, "Who calls it?"), listOf(graph.callers[node]),
      el("h3", {}, "What does it call?"), listOf(graph.callees[node]),
      el("h3", {}, depth === Infinity ? unknownDepth(path) : `Deepest calls: ${bytes(depth)} of stack`),
      el("ol", {}, ...path.map((step) => el("li", {}, link(step), step < graph.count ? ` ${functions.frame[step] ?? "?"} B` : ""))),
      el("h3", {}, "Registers of what it reaches"),
      most === undefined ? el("p", { class: "faint" }, "It calls nothing whose registers are known.")
        : el("ul", {}, ...reached.filter((other) => other !== node).slice(0, 10).map((other) => el("li", {}, `${functions.registers[other]} `, link(other)))),
    );
    if (location.hash !== `#functions/${node}`) history.replaceState(null, "", `#functions/${node}`);
  }
  const rows = functions.name.map((_, row) => row);
  const list = table([
    { title: "Code", number: true, value: (row) => functions.code[row], show: (row) => bytes(functions.code[row]) },
    { title: "Regs", number: true, value: (row) => functions.registers[row] },
    { title: "Stack", number: true, value: (row) => functions.stack[row] === -1 ? Infinity : functions.stack[row] ?? functions.frame[row], show: (row) => stackText(image, row) },
    { title: "Shared", number: true, value: (row) => functions.shared[row] },
    { title: "Callers", number: true, value: (row) => graph.callers[row].length },
    { title: "Calls", number: true, value: (row) => graph.callees[row].length },
    { title: "", value: (row) => functions.kind[row], show: (row) => ["", "kernel", "elsewhere"][functions.kind[row]] },
    { title: "Function", value: (row) => graph.name(row), show: (row) => link(row) },
  ], rows, { search: (row) => `${functions.name[row]} ${functions.source[row] || ""} ${["", "kernel", "elsewhere"][functions.kind[row]]}`, label: "Search functions" });
  if (chosen !== null) show(chosen);
  return el("div", {}, el("h2", {}, "Functions and calls"), el("div", { class: "split" }, list, detail));
}
