// A fake Photoshop in node: supplies the modules `photoshop` and `uxp` to the built plugin, keeps state like
// the application, dials a real loopback socket, and misbehaves on request. It proves our protocol and our
// plugin's use of these calls; it proves nothing about Adobe's behaviour.
//
// node fake_host.mjs BUNDLE MANIFEST PORT PYTHON ENGINE   (control: lines of JSON on standard input)
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import vm from "node:vm";

const [bundle, manifestFile, port, python, engineFile] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

// -- the engine behind

const engine = spawn(python, [engineFile], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = [];
createInterface({ input: engine.stdout }).on("line", (line) => waiting.shift()(JSON.parse(line)));
function ask(method, params) {
  return new Promise((resolve, reject) => {
    waiting.push((reply) => (reply.error ? reject(new Error(reply.error)) : resolve(reply.result)));
    engine.stdin.write(JSON.stringify({ method, params }) + "\n");
  });
}

// -- misbehaviour: name -> times left

const faults = new Map();
const log = [];
const has = (name) => (faults.get(name)?.times ?? 0) > 0;
function fault(name) {
  const found = faults.get(name);
  if (!found || found.times <= 0) return null;
  found.times -= 1;
  log.push(`fault ${name}`);
  return found;
}
const rest = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const numbered = (number, message) => Object.assign(new Error(message), { number });

// -- documents and layers

let modalDepth = 0;
let active = null;
const open = [];
const byId = (id) => open.find((item) => item.id === id);
function needModal(what) {
  if (modalDepth === 0) throw numbered(1, `${what} needs executeAsModal`);
}

class FakeLayer {
  constructor(owner, told) {
    Object.assign(this, { id: told.id, name: told.name, kind: told.kind, owner, told });
    this.visible = told.visible;
    this.allLocked = told.locks.includes("all");
    this.pixelsLocked = told.locks.includes("pixels");
    this.positionLocked = told.locks.includes("position");
    this.transparentPixelsLocked = told.locks.includes("transparency");
    const [left, top, right, bottom] = told.box;
    this.bounds = this.boundsNoEffects = { left, top, right, bottom, width: right - left, height: bottom - top };
    this.isBackgroundLayer = false;
    this.layers = told.layers ? told.layers.map((child) => new FakeLayer(owner, child)) : null;
    if (told.text !== null && told.text !== undefined) this.textItem = new FakeText(this);
    Object.seal(this);
  }
  async scale(width, height) {
    needModal("scale");
    const [ax, ay, bx, by, cx, cy, dx, dy] = this.owner.corners(this);
    const [mx, my] = [(ax + cx) / 2, (ay + cy) / 2];
    const scaled = [ax, ay, bx, by, cx, cy, dx, dy].map((value, i) =>
      i % 2 === 0 ? mx + ((value - mx) * width) / 100 : my + ((value - my) * height) / 100);
    this.owner.virtual.set(this.id, scaled);
  }
  async translate(dx, dy) {
    needModal("translate");
    if (this.told.smart && this.owner.virtual.has(this.id)) {
      this.owner.virtual.set(this.id, this.owner.corners(this).map((value, i) => value + (i % 2 === 0 ? dx : dy)));
      return;
    }
    await this.owner.edit("photoshop.move_layer@1", { layer: { id: this.id }, dx, dy });
  }
}
FakeLayer.prototype.textItem = undefined;

class FakeText {
  constructor(layer) { this.layer = layer; }
  get contents() { return this.layer.told.text; }
  get characterStyle() { return { font: this.layer.told.fonts[0] ?? "" }; }
}

class FakeDocument {
  constructor(told, name) {
    this.name = name;
    this.virtual = new Map();
    this.backgroundLayer = null;
    this.saved = true;
    this.colorProfileType = "none";
    this.take(told);
    this.saveAs = {
      psd: (entry, options, asCopy) => this.save(entry, asCopy, "psd"),
      psb: (entry, options, asCopy) => this.save(entry, asCopy, "psb"),
      png: (entry, options, asCopy) => this.save(entry, asCopy, "png"),
    };
    open.push(this);
    active = this;
  }
  take(told) {
    this.told = told;
    this.id = told.id;
    this.width = told.width;
    this.height = told.height;
    this.mode = told.mode;
    this.bitsPerChannel = `bitDepth${told.depth}`;
    this.layers = told.layers.map((layer) => new FakeLayer(this, layer));
    const document = this;
    this.layerComps = (told.comps ?? []).map((comp) => ({
      id: comp.id, name: comp.name, apply: () => document.edit("photoshop.apply_layer_comp@1", { comp: comp.id }),
    }));
  }
  find(id, layers = this.layers) {
    for (const layer of layers) {
      const found = layer.id === id ? layer : layer.layers && this.find(id, layer.layers);
      if (found) return found;
    }
    return null;
  }
  corners(layer) { return this.virtual.get(layer.id) ?? layer.told.smart.corners; }
  async edit(capability, args) {
    needModal(capability);
    this.take(await ask("edit", { id: this.id, capability, args }));
    this.saved = false;
  }
  async duplicate(name, merged = false) {
    needModal("duplicate");
    return new FakeDocument(await ask("duplicate", { id: this.id, merged }), name);
  }
  closeWithoutSaving() {
    needModal("close");
    open.splice(open.indexOf(this), 1);
    // Photoshop shows another window then: here the one opened first, which is nobody's guess.
    if (active === this) active = open[0] ?? null;
    void ask("close", { id: this.id });
  }
  async trim() { needModal("trim"); this.take(await ask("trim", { id: this.id })); }
  async resizeImage(width, height) { needModal("resize"); this.take(await ask("resize", { id: this.id, width, height })); }
  async resizeCanvas(width, height) { needModal("canvas"); this.take(await ask("canvas", { id: this.id, width, height })); }
  async convertProfile() { needModal("convert"); }
  async save(entry, asCopy, kind) {
    needModal("save");
    if (asCopy !== true) throw numbered(1, "the fake refuses to save anything but a copy");
    if (fault("drop_in_save")) { dropSockets(); await rest(300); }
    const slow = fault("slow_save");
    if (slow) await rest(slow.milliseconds);
    if (fault("save_fails")) { writeFileSync(entry.nativePath, "8BPS"); throw numbered(-36, "disk"); }
    if (fault("cancel_save")) throw numbered(-128, "abgebrochen");
    if (fault("lie_save")) return;
    for (const [id, corners] of this.virtual) {
      const real = this.find(id).told.smart.corners;
      if (corners.some((value, i) => Math.abs(value - real[i]) > 1)) throw numbered(1, "the fake can't keep this placement");
    }
    if (kind === "png") await ask("png", { id: this.id, path: entry.nativePath, blank: fault("lie_export") !== null });
    else await ask("save", { id: this.id, path: entry.nativePath });
    log.push(`saved ${entry.nativePath}`);
  }
}

// -- actions

const tokens = new Map();
let selected = null;

function target(command) {
  const references = [command._target ?? []].flat();
  const layer = references.find((item) => item._ref === "layer");
  const owner = references.find((item) => item._ref === "document");
  const property = references.find((item) => item._property && !item._ref)?._property;
  if (layer && layer._enum === "ordinal") return { document: selected?.document, layer: selected?.layer, property };
  const document = owner ? byId(owner._id) : undefined;
  return { document, layer: document && layer && document.find(layer._id), property, named: layer?._property };
}

async function perform(command) {
  const { document, layer, property, named } = target(command);
  switch (command._obj) {
    case "show":
    case "hide":
      needModal(command._obj);
      if (!layer) return { _obj: "error", result: -25920, message: "Die Ebene ist nicht verfügbar" };
      if (!fault("lie_visibility")) {
        await document.edit("photoshop.set_visibility@1", { layer: { id: layer.id }, visible: command._obj === "show" });
      }
      return { _obj: command._obj };
    case "select":
      needModal("select");
      if (document && !command._target.some((item) => item._ref === "layer")) { active = document; return { _obj: "select" }; }
      if (document !== active) return { _obj: "error", result: -25920, message: "Das Dokument ist nicht aktiv" };
      if (!layer) return { _obj: "error", result: -25920, message: "Die Ebene ist nicht verfügbar" };
      selected = { document, layer };
      return { _obj: "select" };
    case "get":
      if (!layer) return { _obj: "error", result: -25920, message: "Die Ebene ist nicht verfügbar" };
      if (property === "layerID") return { _obj: "get", layerID: layer.id };
      if (!layer.told.smart) return {};
      if (property === "smartObjectMore") {
        return { _obj: "get", smartObjectMore: { ID: layer.told.smart.uuid, transform: document.corners(layer), nonAffineTransform: document.corners(layer) } };
      }
      return { _obj: "get", smartObject: { linked: layer.told.smart.linked, ...(layer.told.smart.filtered ? { filterFX: [{}] } : {}) } };
    case "placedLayerReplaceContents": {
      needModal("replace");
      const path = tokens.get(command.null?._path);
      if (fault("expire_tokens") || path === undefined) return { _obj: "error", result: -43, message: "Datei nicht gefunden" };
      if (fault("drop_in_replace")) { dropSockets(); await rest(200); }
      const { document: doc, layer: chosen } = selected;
      if (doc !== active) return { _obj: "error", result: -25920, message: "Das Dokument ist nicht aktiv" };
      const before = { ...chosen.told.smart };
      if (!fault("lie_replace")) {
        await doc.edit("photoshop.replace_smart_object@1", { layer: { id: chosen.id }, contents: path, scope: "shared", unproven: "allow" });
      }
      let now = doc.find(chosen.id);
      if (fault("renumber")) {
        doc.take(await ask("renumber", { id: doc.id, layer: chosen.id, number: 9001 }));
        now = doc.find(9001);
      }
      // Photoshop keeps the scale, not the place, of contents that have another size.
      const [sx, sy] = [0, 1].map((i) => (before.size[i] ? now.told.smart.size[i] / before.size[i] : 1));
      if (sx !== 1 || sy !== 1) {
        const corners = before.corners;
        const [mx, my] = [(corners[0] + corners[4]) / 2, (corners[1] + corners[5]) / 2];
        doc.virtual.set(now.id, corners.map((v, i) => (i % 2 === 0 ? mx + (v - mx) * sx : my + (v - my) * sy)));
      }
      selected = { document: doc, layer: now };
      return { _obj: "placedLayerReplaceContents" };
    }
    case "set":
      needModal("set");
      if (layer && command.to?._obj === "textLayer") {
        if (!fault("lie_text")) {
          await document.edit("photoshop.set_text@1", { layer: { id: layer.id }, text: command.to.textKey.replace(/\r/g, "\n"), overflow: "cut" });
        }
        return { _obj: "set" };
      }
      if (named === "background") return { _obj: "set" };
      return { _obj: "error", result: -25920, message: "unbekannt" };
    default:
      return { _obj: "error", result: -1, message: `the fake knows no ${command._obj}` };
  }
}

const action = {
  // Resolves also where a command failed, and stops there, as Photoshop does.
  async batchPlay(commands) {
    const replies = [];
    for (const command of commands) {
      log.push(`play ${command._obj}`);
      if (command._obj !== "get" && fault("user_cancel")) { replies.push({ _obj: "error", result: -128, message: "Abgebrochen" }); break; }
      if (command._obj !== "get" && fault("action_error")) { replies.push({ _obj: "error", result: -25920, message: "Der Befehl ist nicht verfügbar" }); break; }
      if (command._obj !== "get" && fault("short_reply")) break;
      let reply;
      try {
        reply = await perform(command);
      } catch (error) {
        reply = { _obj: "error", result: error.number ?? -1, message: error.message };
      }
      replies.push(reply);
      if (reply._obj === "error") break;
    }
    return replies;
  },
};

const core = {
  isModal: () => modalDepth > 0,
  async executeAsModal(work, { commandName }) {
    if (modalDepth > 0 || fault("modal_busy")) throw numbered(9, "host is in a modal state");
    modalDepth += 1;
    log.push(`modal ${commandName}`);
    const suspended = new Map();
    try {
      return await work({
        get isCancelled() { return fault("cancelled_context") !== null; },
        reportProgress() {},
        hostControl: {
          async suspendHistory({ documentID }) {
            const { snapshot } = await ask("snapshot", { id: documentID });
            const historySuspensionID = suspended.size + 1;
            suspended.set(historySuspensionID, { documentID, snapshot });
            return { historySuspensionID };
          },
          async resumeHistory({ historySuspensionID }, commit = true) {
            if (fault("rollback_fails")) throw numbered(1, "history is gone");
            const { documentID, snapshot } = suspended.get(historySuspensionID);
            suspended.delete(historySuspensionID);
            log.push(commit ? "history kept" : "history rolled back");
            if (!commit) {
              const document = byId(documentID);
              document.virtual.clear();
              document.take(await ask("restore", { id: documentID, snapshot }));
            }
          },
        },
      });
    } finally {
      modalDepth -= 1;
    }
  },
};

const enumeration = (...pairs) => Object.freeze(Object.fromEntries(pairs));
const photoshop = {
  action,
  core,
  app: {
    get documents() { return [...open]; },
    get fonts() { return Object.assign([{}], { getByName: (name) => (name.startsWith("Missing") ? undefined : { postScriptName: name }) }); },
    async open(entry) {
      needModal("open");
      if (fault("open_fails")) throw numbered(-43, "Datei nicht gefunden");
      return new FakeDocument(await ask("open", { path: entry.nativePath }), entry.name);
    },
  },
  constants: {
    LayerKind: enumeration(["SMARTOBJECT", "smartObject"], ["TEXT", "text"], ["GROUP", "group"]),
    DocumentMode: enumeration(["RGB", "RGBColorMode"], ["GRAYSCALE", "grayscaleMode"]),
    ChangeMode: enumeration(["RGB", "RGBColorMode"]),
    Intent: enumeration(["RELATIVECOLORIMETRIC", "colorimetric"]),
    ColorProfileType: enumeration(["NONE", "none"]),
    BitsPerChannelType: enumeration(["EIGHT", "bitDepth8"]),
    TrimType: enumeration(["TRANSPARENT", "transparent"]),
    ResampleMethod: enumeration(["AUTOMATIC", "bicubicAutomatic"]),
    AnchorPosition: enumeration(["MIDDLECENTER", "middle-center"]),
  },
};

// -- UXP

const pathOf = (url) => {
  if (!url.startsWith("file:/")) throw new Error("the fake takes file: addresses alone");
  return decodeURIComponent(url.slice("file:".length)).replace(/^\/([A-Za-z]:)/, "$1");
};
const entryOf = (path) => ({
  isFile: statSync(path).isFile(), isFolder: statSync(path).isDirectory(), name: path.split("/").pop(), nativePath: path,
  async delete() { if (fault("delete_fails")) throw new Error("locked"); rmSync(path); },
});
const secrets = new Map();
const panels = {};
const uxp = {
  host: { name: "Photoshop", version: "25.0.0-fake" },
  versions: { uxp: "7.3.0", plugin: manifest.version },
  storage: {
    localFileSystem: {
      async getEntryWithUrl(url) { const path = pathOf(url); if (!existsSync(path)) throw new Error("no such file"); return entryOf(path); },
      async createEntryWithUrl(url, { overwrite } = {}) {
        const path = pathOf(url);
        if (existsSync(path) && !overwrite) throw new Error("there is a file already");
        writeFileSync(path, "");
        return entryOf(path);
      },
      createSessionToken(entry) { const token = `token-${tokens.size + 1}`; tokens.set(token, entry.nativePath); return token; },
    },
    secureStorage: {
      async getItem(key) { const found = secrets.get(key); return found === undefined ? null : Uint8Array.from(Buffer.from(found)); },
      async setItem(key, value) { secrets.set(key, value); },
      async removeItem(key) { secrets.delete(key); },
    },
  },
  entrypoints: { setup(points) { Object.assign(panels, points.panels); uxp.begin = points.plugin.create; } },
};

// -- the socket: a real one, to the port under test, only for an address that the manifest allows

const sockets = new Set();
const dropSockets = () => { for (const socket of sockets) socket.real.close(); sockets.clear(); };
class PluginSocket {
  constructor(address) {
    const { protocol, host } = new URL(address);
    if (!manifest.requiredPermissions.network.domains.includes(`${protocol}//${host}`)) throw new Error("Permission denied");
    this.real = new globalThis.WebSocket(address.replace(host, `127.0.0.1:${port}`));
    sockets.add(this);
    this.real.onopen = () => this.onopen?.();
    this.real.onmessage = (event) => { log.push(`in ${event.data}`); this.onmessage?.({ data: event.data }); };
    this.real.onclose = (event) => { sockets.delete(this); this.onclose?.({ code: event.code }); };
    this.real.onerror = () => this.onerror?.();
  }
  send(text) {
    if (this.real.readyState !== 1) throw new Error("the socket is closed");
    const frame = JSON.parse(text);
    if (frame.result && fault("stray_replies")) {
      this.real.send(JSON.stringify({ ...frame, id: frame.id.replace(/-\d+$/, "-0") }));
      this.real.send(JSON.stringify({ ...frame, id: `${"de".repeat(16)}-1` }));
    }
    if (frame.result && fault("mute")) return;
    if (frame.result && fault("nonsense_result")) text = JSON.stringify({ ...frame, result: { nothing: "like it" } });
    if (frame.result && fault("nonsense_frame")) text = "{]";
    if (frame.result && fault("huge_frame")) text = JSON.stringify({ ...frame, result: { saved: ["x".repeat(2 << 20)] } });
    log.push(`out ${text.slice(0, 2000)}`);
    this.real.send(text);
  }
  close(code, reason) { this.real.close(code, reason); }
}

// -- the plugin

const modules = { photoshop, uxp };
function node(name) {
  const made = { name, textContent: "", value: "", className: "", children: [], listeners: {} };
  made.setAttribute = () => undefined;
  made.appendChild = (child) => { made.children.push(child); return child; };
  made.addEventListener = (type, listener) => { made.listeners[type] = listener; };
  return made;
}
function load() {
  const sandbox = {
    require: (name) => { if (!(name in modules)) throw new Error(`no module ${name}`); return modules[name]; },
    module: { exports: {} }, exports: {}, WebSocket: PluginSocket, setTimeout, clearTimeout, document: { createElement: node },
  };
  // No eval and no Function made from text, as in UXP.
  vm.runInContext(readFileSync(bundle, "utf8"), vm.createContext(sandbox, { codeGeneration: { strings: false, wasm: false } }), { filename: bundle });
  const root = node("panel");
  panels.fabric.create(root);
  uxp.begin();
  return root;
}
let root = load();

createInterface({ input: process.stdin }).on("line", (line) => {
  const { do: what, ...more } = JSON.parse(line);
  if (what === "pair") { root.children[0].value = more.token; root.children[1].listeners.click(); }
  else if (what === "misbehave") faults.set(more.name, { times: 1, ...more });
  else if (what === "behave") faults.clear();
  else if (what === "drop") dropSockets();
  else if (what === "reload") { dropSockets(); tokens.clear(); root = load(); }
  else if (what === "open") { modalDepth += 1; ask("open", { path: more.path }).then((told) => { new FakeDocument(told, "theirs.psd"); modalDepth -= 1; say({ ok: true }); }); return; }
  else if (what === "close_all") { modalDepth += 1; for (const item of [...open]) item.closeWithoutSaving(); modalDepth -= 1; }
  else if (what === "send") for (const socket of sockets) socket.real.send(more.text);
  else if (what === "receive") for (const socket of sockets) socket.onmessage?.({ data: more.text });
  else if (what === "state") { say({ modal: modalDepth > 0, documents: open.map(({ id, name }) => ({ id, name })), log: log.splice(0), said: root.children.at(-1).textContent, left: [...faults].filter(([name]) => has(name)).map(([name]) => name) }); return; }
  else if (what === "quit") process.exit(0);
  say({ ok: true });
}).on("close", () => process.exit(0));
say({ ready: true });
