// Tabs, and which image is shown.

const graphs = new Map();
let chosenImage = 0;

function currentImage() {
  const image = DATA.images[chosenImage];
  if (image && !graphs.has(image)) graphs.set(image, new Graph(image));
  return [image, graphs.get(image)];
}

function tabs(image) {
  const list = [["summary", "Summary"], ["treemap", "Sizes"]];
  if (image.functions.name.length) list.push(["functions", "Functions"], ["memory", "Memory"], ["duplicates", "Duplicates"]);
  if (DATA.link) list.push(["dropped", "Left out"], ["passes", "Passes"]);
  return list;
}

function render() {
  const [image, graph] = currentImage();
  const view = document.getElementById("view");
  if (!image) {
    view.replaceChildren(el("p", {}, "There is no device code in this file."));
    return;
  }
  const known = tabs(image);
  const [wanted, argument] = location.hash.slice(1).split("/");
  const tab = known.some(([name]) => name === wanted) ? wanted : "summary";
  document.getElementById("tabs").replaceChildren(...known.map(([name, title]) => el("a", { href: `#${name}`, "aria-current": name === tab ? "page" : undefined }, title)));
  const open = (row) => { location.hash = `functions/${row}`; };
  const row = argument !== undefined && /^\d+$/.test(argument) && Number(argument) < image.functions.name.length ? Number(argument) : null;
  const views = {
    summary: () => summaryView(image),
    treemap: () => treemapView(image, open),
    functions: () => functionsView(image, graph, row),
    memory: () => memoryView(image, graph, open),
    duplicates: () => duplicatesView(image, graph, open),
    dropped: droppedView,
    passes: passesView,
  };
  view.replaceChildren(views[tab]());
}

document.getElementById("title").textContent = DATA.title;
const chooser = document.getElementById("image");
chooser.append(...DATA.images.map((image, index) => el("option", { value: index }, `${image.name} (${image.arch})`)));
chooser.addEventListener("change", () => { chosenImage = Number(chooser.value); location.hash = location.hash.split("/")[0]; render(); });
document.getElementById("choose").hidden = DATA.images.length < 2;
addEventListener("hashchange", render);
render();
// How many milliseconds it took, for tests.
document.body.dataset.ready = Math.round(performance.now());
