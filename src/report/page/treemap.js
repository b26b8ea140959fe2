// The treemap: rectangles whose areas are sizes.

const GROUPINGS = {
  section: ["kind", "symbol"],
  kernel: ["kernel", "symbol", "kind"],
  template: ["template", "symbol", "kind"],
  object: ["object", "symbol", "kind"],
};

/** Sums up the leaves of an image as a tree, by the levels of a grouping. */
function sizeTree(image, grouping, measure) {
  const { leaves, symbols, labels } = image;
  const label = {
    kind: (leaf) => labels[leaves.kind[leaf]],
    object: (leaf) => labels[leaves.object[leaf]],
    symbol: (leaf) => labels[symbols.name[leaves.symbol[leaf]]],
    kernel: (leaf) => labels[symbols.kernel[leaves.symbol[leaf]]],
    template: (leaf) => labels[symbols.template[leaves.symbol[leaf]]],
  };
  const root = { name: image.name, size: 0, children: new Map(), function: null };
  for (let leaf = 0; leaf < leaves.kind.length; leaf++) {
    const size = leaves[measure][leaf];
    if (!size) continue;
    let at = root;
    at.size += size;
    for (const level of GROUPINGS[grouping]) {
      const name = label[level](leaf);
      let next = at.children.get(name);
      if (!next) {
        next = { name, size: 0, children: new Map(), function: null };
        at.children.set(name, next);
      }
      next.size += size;
      if (level === "symbol") next.function = symbols.function[leaves.symbol[leaf]];
      at = next;
    }
  }
  return root;
}

function childrenOf(node) {
  return [...node.children.values()].sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));
}

/** Divides a rectangle among sizes in descending order, so that the parts are nearly squares. */
function squarify(nodes, x, y, width, height) {
  const placed = [];
  let left = nodes.reduce((sum, node) => sum + node.size, 0);
  let at = 0;
  while (at < nodes.length && width > 0.3 && height > 0.3 && left > 0) {
    const scale = width * height / left;
    const side = Math.min(width, height);
    let sum = 0, end = at, worst = Infinity;
    while (end < nodes.length) {
      const next = sum + nodes[end].size * scale;
      const thick = next / side;
      const ratio = Math.max(thick * thick / (nodes[at].size * scale), nodes[end].size * scale === 0 ? Infinity : Math.max(thick * thick / (nodes[end].size * scale), nodes[at].size * scale / (thick * thick)));
      if (end > at && ratio > worst) break;
      worst = ratio;
      sum = next;
      end++;
    }
    const thick = sum / side;
    let along = 0;
    for (let index = at; index < end; index++) {
      const long = nodes[index].size * scale / thick;
      placed.push(width >= height
        ? { node: nodes[index], x, y: y + along, width: thick, height: long }
        : { node: nodes[index], x: x + along, y, width: long, height: thick });
      along += long;
      left -= nodes[index].size;
    }
    if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
    at = end;
  }
  return placed;
}

function treemapView(image, open) {
  const groupings = Object.keys(GROUPINGS).filter((name) => name !== "object" || image.leaves.object.length > 0);
  let grouping = groupings.includes("object") && image.linked ? "object" : "section", measure = "file", path = [];
  const canvas = el("canvas", { role: "img", "aria-label": "Treemap of sizes; the table after it has the same rows" });
  const tip = el("p", { class: "tip name" }), crumbs = el("p"), list = el("div");
  let boxes = [], root = null;
  const select = (name, options, chosen, change) => el("label", {}, name + " ", el("select", { change: (event) => change(event.target.value) },
    ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
  const controls = el("div", { class: "controls" },
    select("Group by", groupings.map((name) => [name, name]), grouping, (value) => { grouping = value; path = []; build(); }),
    select("Size", [["file", "bytes in the file"], ["memory", "bytes of memory"]], measure, (value) => { measure = value; path = []; build(); }));
  function build() {
    root = sizeTree(image, grouping, measure);
    draw();
  }
  function current() {
    let node = root;
    for (const name of path) node = node.children.get(name) || node;
    return node;
  }
  function enter(node) {
    if (node.children.size > 0 && path.length < GROUPINGS[grouping].length) {
      path.push(node.name);
      draw();
    } else if (node.function !== null) open(node.function);
  }
  function draw() {
    const node = current();
    const parts = [root, ...path.map((_, depth) => path.slice(0, depth + 1).reduce((at, name) => at.children.get(name), root))];
    crumbs.replaceChildren(...parts.flatMap((part, depth) => [
      depth ? " › " : "",
      el("button", { type: "button", class: "link", click: () => { path = path.slice(0, depth); draw(); } }, part.name),
      ` ${bytes(part.size)}`,
    ]));
    if (node.function !== null) crumbs.append(" — ", el("button", { type: "button", class: "link", click: () => open(node.function) }, "calls and needs"));
    paint(node);
    list.replaceChildren(table([
      { title: "Bytes", number: true, value: (row) => row.size, show: (row) => bytes(row.size) },
      { title: "Share", number: true, value: (row) => row.size, show: (row) => percent(row.size, node.size) },
      { title: "Name", value: (row) => row.name, class: "name", show: (row) => row.children.size || row.function !== null
        ? el("button", { type: "button", class: "link", click: () => enter(row) }, row.name) : row.name },
    ], childrenOf(node), { search: (row) => row.name }));
  }
  function paint(node) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth || 1000, height = canvas.clientHeight || 480;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const draw = canvas.getContext("2d");
    draw.scale(ratio, ratio);
    draw.font = "11px system-ui, sans-serif";
    draw.textBaseline = "top";
    boxes = [];
    const write = (text, x, y, width) => {
      if (width < 24) return;
      let shown = text;
      // Characters have about six pixels; what is wider is cut.
      if (shown.length > width / 5) shown = shown.slice(0, Math.floor(width / 5));
      while (shown.length > 3 && draw.measureText(shown).width > width - 6) shown = shown.slice(0, -2);
      draw.fillStyle = "#1d2228";
      draw.fillText(shown, x + 3, y + 2);
    };
    for (const outer of squarify(childrenOf(node), 0, 0, width, height)) {
      draw.fillStyle = color(outer.node.name, 78);
      draw.fillRect(outer.x, outer.y, outer.width, outer.height);
      boxes.push(outer);
      const hasTitle = outer.height > 30 && outer.width > 40;
      const top = hasTitle ? 15 : 1;
      const inner = outer.node.children.size > 1 && outer.width > 8 && outer.height > top + 8
        ? squarify(childrenOf(outer.node), outer.x + 1, outer.y + top, outer.width - 2, outer.height - top - 1) : [];
      for (const box of inner) {
        if (box.width < 1.5 || box.height < 1.5) continue;
        draw.fillStyle = color(outer.node.name, 86);
        draw.fillRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
        boxes.push({ ...box, outer: outer.node });
        if (box.height > 14) write(box.node.name, box.x, box.y, box.width);
      }
      draw.strokeStyle = "#ffffff";
      draw.strokeRect(outer.x + 0.5, outer.y + 0.5, outer.width - 1, outer.height - 1);
      if (hasTitle || inner.length === 0 && outer.height > 13) write(`${outer.node.name}  ${bytes(outer.node.size)}`, outer.x, outer.y, outer.width);
    }
  }
  function boxAt(event) {
    const frame = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    return boxes.findLast((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height);
  }
  canvas.addEventListener("mousemove", (event) => {
    const box = boxAt(event);
    tip.textContent = box ? `${box.outer ? box.outer.name + " › " : ""}${box.node.name}: ${bytes(box.node.size)}, ${percent(box.node.size, root.size)}` : "";
  });
  canvas.addEventListener("click", (event) => {
    const box = boxAt(event);
    if (box) enter(box.outer || box.node);
  });
  window.onresize = () => { if (canvas.isConnected) paint(current()); };
  build();
  // The canvas has a size only once it is in the page.
  setTimeout(() => paint(current()), 0);
  return el("div", {}, el("h2", {}, "Sizes"), controls, crumbs, canvas, tip, list);
}
