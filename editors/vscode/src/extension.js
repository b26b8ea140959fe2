// The client of `cuweld language-server`: starts the program, and shows what passes make of a module.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** Documents with modules after passes, which exist in the editor alone. */
const SCHEME = "cuweld-after";

/** @type {LanguageClient | undefined} */
let client;

/** Texts of the documents of `SCHEME`, by their names. */
const results = new Map();

async function start() {
  const settings = vscode.workspace.getConfiguration("cuweld");
  const server = {
    command: settings.get("path", "cuweld"),
    args: ["language-server", ...settings.get("arguments", [])],
  };
  client = new LanguageClient("cuweld", "cuweld", server, {
    documentSelector: [{ language: "lir" }, { scheme: "file", pattern: "**/*.toml" }],
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(
      `cuweld: cannot start '${server.command}': ${error.message}`,
      "Settings",
    );
    if (choice) {
      vscode.commands.executeCommand("workbench.action.openSettings", "cuweld.path");
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** Asks for passes, runs them over the module of the editor, and shows what they change. */
async function runPassAsked() {
  const document = vscode.window.activeTextEditor?.document;
  if (!client || document?.languageId !== "lir") {
    return;
  }
  const passes = await askForPasses(document);
  if (!passes) {
    return;
  }
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const result = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `cuweld: ${passes}` },
    () => client.sendRequest("workspace/executeCommand", { command: "cuweld.runPass", arguments: [uri, passes] }),
  );
  if (result.messages) {
    const show = result.text === null ? vscode.window.showErrorMessage : vscode.window.showInformationMessage;
    show(result.messages);
  }
  if (result.text === null) {
    return;
  }
  const after = document.uri.with({ scheme: SCHEME, query: `${passes} ${results.size}` });
  results.set(after.toString(), result.text);
  const name = vscode.workspace.asRelativePath(document.uri);
  await vscode.commands.executeCommand("vscode.diff", document.uri, after, `${name} ↔ after ${passes}`);
}

/** Lets the user choose a pass that can run on the module, or write several with options. */
async function askForPasses(document) {
  const start = new vscode.Range(0, 0, 0, 0);
  const actions = await vscode.commands.executeCommand(
    "vscode.executeCodeActionProvider",
    document.uri,
    start,
    vscode.CodeActionKind.Source.value,
  );
  const own = actions.filter((action) => action.command?.command === "cuweld.applyPass");
  const items = own.map((action) => ({
    label: action.command.arguments[1],
    description: action.command.tooltip,
  }));
  const other = { label: "Others, with options…", alwaysShow: true };
  const chosen = await vscode.window.showQuickPick([...items, other], { placeHolder: "The pass to run" });
  if (chosen !== other) {
    return chosen?.label;
  }
  return vscode.window.showInputBox({
    prompt: "Passes as --passes takes them, such as classify,strip-debug",
    placeHolder: "pass{option=value},pass",
  });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => results.get(uri.toString()) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument((document) => results.delete(document.uri.toString())),
    vscode.commands.registerCommand("cuweld.runPassAsked", runPassAsked),
    vscode.commands.registerCommand("cuweld.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("cuweld")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
