"use strict";

// src/main.ts
var import_uxp5 = require("uxp");

// src/generated/protocol.ts
var PROTOCOL = "fabric.photoshop-uxp.v1";
var PORT = 47823;
var MOST_BYTES = 1048576;
var SCHEMA_DIGEST = "sha256:8b126743c07bd9824fe0e7a30c610d6178bd6c97c26a9eb4562bc1d882f89ff2";

// src/sha256.ts
var K = constants();
function constants() {
  const found = new Uint32Array(64);
  let count = 0;
  for (let candidate = 2; count < 64; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) prime && (prime = candidate % divisor !== 0);
    if (prime) {
      const root = Math.cbrt(candidate);
      found[count] = Math.floor((root - Math.floor(root)) * 2 ** 32);
      count += 1;
    }
  }
  return found;
}
function at(words, index) {
  return words[index] ?? 0;
}
function turn(word, bits) {
  return word >>> bits | word << 32 - bits;
}
function sha256(data) {
  const padded = new Uint8Array(data.length + 72 >> 6 << 6);
  padded.set(data);
  padded[data.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29));
  view.setUint32(padded.length - 4, data.length << 3 >>> 0);
  const state = Uint32Array.of(
    1779033703,
    3144134277,
    1013904242,
    2773480762,
    1359893119,
    2600822924,
    528734635,
    1541459225
  );
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [at(words, i - 15), at(words, i - 2)];
      const low = turn(a, 7) ^ turn(a, 18) ^ a >>> 3;
      const high = turn(b, 17) ^ turn(b, 19) ^ b >>> 10;
      words[i] = at(words, i - 16) + low + at(words, i - 7) + high;
    }
    round(state, words);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, i) => {
    out.setUint32(4 * i, word);
  });
  return digest;
}
function round(state, words) {
  let [a, b, c, d] = [at(state, 0), at(state, 1), at(state, 2), at(state, 3)];
  let [e, f, g, h] = [at(state, 4), at(state, 5), at(state, 6), at(state, 7)];
  for (let i = 0; i < 64; i += 1) {
    const choice = e & f ^ ~e & g;
    const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + at(K, i) + at(words, i) | 0;
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, d + first | 0, c, b, a, first + second | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = at(state, i) + word;
  });
}
function hmac(key, data) {
  const padded = (value) => {
    const block = new Uint8Array(64).fill(value);
    key.forEach((byte, i) => {
      block[i] = byte ^ value;
    });
    return block;
  };
  return sha256(joined(padded(92), sha256(joined(padded(54), data))));
}
function joined(first, second) {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
function ascii(text) {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 127);
}
function hex(data) {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair2) => parseInt(pair2, 16));
}

// src/handshake.ts
var TOKEN = /^[0-9a-f]{64}$/;
var NONCE = /^[0-9a-f]{64}$/;
var drawn = 0;
function isToken(text) {
  return TOKEN.test(text);
}
function isChallenge(value) {
  const { protocol, schema, nonce: nonce2 } = value ?? {};
  return protocol === PROTOCOL && typeof schema === "string" && typeof nonce2 === "string" && NONCE.test(nonce2);
}
function nonce(token) {
  drawn += 1;
  return hex(hmac(token, ascii(`nonce ${Date.now()} ${drawn} ${Math.random()}`)));
}
function answer(token, challenge) {
  const key = unhex(token);
  const ours = nonce(key);
  const words = ascii([PROTOCOL, challenge.schema, challenge.nonce, ours].join("\n"));
  const client = hmac(key, ascii("Client Key"));
  const mask = hmac(sha256(client), words);
  const proof = hex(client.map((byte, i) => byte ^ (mask[i] ?? 0)));
  const session = hex(sha256(Uint8Array.from([...words, ...ascii(`
${proof}`)]))).slice(0, 32);
  return { nonce: ours, proof, session, signature: hex(hmac(hmac(key, ascii("Server Key")), words)) };
}
function sameSchema(challenge) {
  return challenge.schema === SCHEMA_DIGEST;
}
function same(first, second) {
  let difference = first.length ^ second.length;
  for (let i = 0; i < first.length; i += 1) difference |= first.charCodeAt(i) ^ second.charCodeAt(i % (second.length || 1));
  return difference === 0;
}

// src/link.ts
var import_uxp4 = require("uxp");

// src/partition.ts
var import_photoshop2 = require("photoshop");
var import_uxp = require("uxp");

// src/failure.ts
var OperationFailure = class extends Error {
  constructor(code, message, where = "", mend = "") {
    super(message);
    this.code = code;
    this.where = where;
    this.mend = mend;
    /** False where something of the request may be left in Photoshop or in the stage. */
    this.rolledBack = true;
  }
};
var USER_CANCELLED = -128;
var MODAL_BUSY = 9;
function numberOf(fault) {
  if (typeof fault !== "object" || fault === null) return null;
  const { number, result } = fault;
  if (typeof number === "number") return number;
  return typeof result === "number" ? result : null;
}
function typed(fault) {
  if (fault instanceof OperationFailure) return fault;
  const number = numberOf(fault);
  if (number === MODAL_BUSY) {
    return new OperationFailure("photoshop.busy", "Photoshop is busy with another command", "", "end it, then run this again");
  }
  if (number === USER_CANCELLED) {
    return new OperationFailure("photoshop.cancelled", "somebody cancelled it in Photoshop");
  }
  const { message } = fault ?? {};
  const told = typeof message === "string" ? message.slice(0, 500) : "it did not say why";
  return new OperationFailure("photoshop.host_failed", `Photoshop failed (${number ?? "no number"}): ${told}`);
}

// src/host.ts
var import_photoshop = require("photoshop");
async function play(commands) {
  const replies = await import_photoshop.action.batchPlay(commands, { dialogOptions: "silent" });
  for (const reply of replies) {
    if (reply._obj === "error") throw typed(reply);
  }
  if (replies.length !== commands.length) {
    throw new OperationFailure("photoshop.host_failed", `${replies.length} of ${commands.length} actions were answered`);
  }
  return replies;
}
async function playOne(command) {
  const [reply] = await play([command]);
  if (reply === void 0) throw new OperationFailure("photoshop.host_failed", "an action was not answered");
  return reply;
}
async function modal(commandName, documentID, work) {
  const inner = {};
  try {
    return await import_photoshop.core.executeAsModal(
      async (context) => {
        try {
          return await (documentID === null ? work(context) : inHistory(context, documentID, commandName, work));
        } catch (fault) {
          inner.failure = typed(fault);
          throw inner.failure;
        }
      },
      { commandName }
    );
  } catch (fault) {
    throw inner.failure ?? typed(fault);
  }
}
async function inHistory(context, documentID, name, work) {
  const suspension = await context.hostControl.suspendHistory({ documentID, name });
  let value;
  try {
    await playOne({ _obj: "select", _target: [{ _ref: "document", _id: documentID }] });
    value = await work(context);
    if (context.isCancelled) throw new OperationFailure("photoshop.cancelled", "somebody cancelled it in Photoshop");
  } catch (fault) {
    const failure = typed(fault);
    try {
      await context.hostControl.resumeHistory(suspension, false);
    } catch {
      failure.rolledBack = false;
    }
    throw failure;
  }
  await context.hostControl.resumeHistory(suspension, true);
  return value;
}

// src/partition.ts
var current = null;
async function begin(args) {
  await abandon();
  current = {
    name: args.partition,
    folder: args.folder.replace(/\/+$/, ""),
    sources: new Map(Object.entries(args.sources ?? {})),
    copies: [],
    outputs: /* @__PURE__ */ new Set()
  };
}
function partition(name) {
  if (current === null || name !== void 0 && name !== current.name) {
    throw new OperationFailure("photoshop.request_refused", "no such partition was begun");
  }
  return current;
}
function isOurs(documentID) {
  return current?.copies.some((copy) => copy.id === documentID) ?? false;
}
function document2() {
  const last = partition().copies.slice(-1)[0];
  if (last === void 0) throw new OperationFailure("photoshop.no_document", "an operation comes before any document is open");
  return byId(last.id);
}
function byId(id) {
  const found = Array.from(import_photoshop2.app.documents).find((item) => item.id === id);
  if (found === void 0) throw new OperationFailure("photoshop.host_failed", "somebody closed the duplicate in Photoshop");
  return found;
}
async function source(planPath) {
  const path = partition().sources.get(planPath);
  if (path === void 0) throw new OperationFailure("photoshop.request_refused", "the plan has no such input", planPath);
  try {
    const entry = await byUrl(path);
    if (entry.isFile) return entry;
  } catch {
  }
  throw new OperationFailure("photoshop.file_unavailable", "an input cannot be read", planPath, "check the path and its permissions");
}
function claim(path) {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\:*?"<>|\p{Cc}]/u.test(part))) {
    throw new OperationFailure("photoshop.request_refused", "a result's path is not plain and relative", path);
  }
  const key = path.normalize("NFC").toLowerCase();
  if (partition().outputs.has(key)) throw new OperationFailure("photoshop.output_twice", "this file is written twice", path);
  partition().outputs.add(key);
}
async function target(path) {
  const whole = `${partition().folder}/${path}`;
  try {
    return await import_uxp.storage.localFileSystem.createEntryWithUrl(url(whole), { overwrite: false });
  } catch {
    throw new OperationFailure("photoshop.save_failed", "a result's file cannot be made", path);
  }
}
async function discard(entry) {
  try {
    await entry.delete();
    return true;
  } catch {
    return false;
  }
}
async function isThere(path) {
  try {
    return (await byUrl(`${partition().folder}/${path}`)).isFile;
  } catch {
    return false;
  }
}
async function byUrl(path) {
  return import_uxp.storage.localFileSystem.getEntryWithUrl(url(path));
}
function url(path) {
  return `file:${path.startsWith("/") ? "" : "/"}${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`;
}
async function abandon() {
  const ended = current;
  if (ended !== null && ended.copies.length > 0) {
    await modal("Fabric: close duplicates", null, () => {
      for (const copy of ended.copies) {
        Array.from(import_photoshop2.app.documents).find((item) => item.id === copy.id)?.closeWithoutSaving();
      }
      return Promise.resolve();
    });
  }
  current = null;
}

// src/inspect.ts
var import_photoshop3 = require("photoshop");
var import_uxp2 = require("uxp");
function inspectHost() {
  return {
    application: import_uxp2.host.name.slice(0, 256),
    version: import_uxp2.host.version.slice(0, 64),
    plugin: import_uxp2.versions.plugin.slice(0, 64),
    documents: import_photoshop3.app.documents.length,
    modal: import_photoshop3.core.isModal(),
    fonts: import_photoshop3.app.fonts.length
  };
}
function inspectDocuments() {
  return {
    documents: Array.from(import_photoshop3.app.documents, (item) => ({
      id: item.id,
      name: item.name.slice(0, 256),
      ours: isOurs(item.id),
      saved: item.saved
    }))
  };
}

// src/operations/apply_layer_comp.ts
async function applyLayerComp(args) {
  const target2 = document2();
  const { comp: wanted } = args;
  const found = Array.from(target2.layerComps).filter(
    (comp2) => typeof wanted === "number" ? comp2.id === wanted : comp2.name.normalize("NFC") === wanted.normalize("NFC")
  );
  const [comp] = found;
  if (comp === void 0) throw new OperationFailure("photoshop.comp_not_found", `there is no comp ${wanted}`, "comp");
  if (found.length > 1) {
    const ids = found.map((item) => item.id).join(", ");
    throw new OperationFailure("photoshop.comp_ambiguous", `${found.length} comps are called ${wanted}`, "comp", `name it by its id: ${ids}`);
  }
  await modal("Fabric: apply a comp", target2.id, () => comp.apply());
  return { comp: comp.name, id: comp.id };
}

// src/operations/export_png.ts
var import_photoshop4 = require("photoshop");
var SRGB = "sRGB IEC61966-2.1";
async function exportPng(args) {
  const preset = args.preset ?? {};
  if (typeof preset === "string") {
    throw new OperationFailure("photoshop.request_refused", "presets arrive as objects", "preset");
  }
  const from = document2();
  if (from.mode !== import_photoshop4.constants.DocumentMode.RGB && from.mode !== import_photoshop4.constants.DocumentMode.GRAYSCALE) {
    throw new OperationFailure("photoshop.profile_unsupported", "the document is neither RGB nor gray");
  }
  claim(args.out);
  return modal("Fabric: export", null, async () => {
    const merged = await from.duplicate("fabric-export", true);
    try {
      return await save(merged, preset, args.out);
    } finally {
      merged.closeWithoutSaving();
    }
  });
}
async function save(merged, preset, out) {
  if (merged.backgroundLayer !== null) {
    await playOne({
      _obj: "set",
      _target: [{ _ref: "layer", _property: "background" }, { _ref: "document", _id: merged.id }],
      to: { _obj: "layer" }
    });
  }
  const [layer] = Array.from(merged.layers);
  if (layer === void 0 || layer.bounds.right <= layer.bounds.left) {
    throw new OperationFailure("photoshop.nothing_visible", "nothing that is visible is to be exported");
  }
  if (merged.mode !== import_photoshop4.constants.DocumentMode.RGB) await merged.changeMode(import_photoshop4.constants.ChangeMode.RGB);
  if (merged.colorProfileType !== import_photoshop4.constants.ColorProfileType.NONE) {
    await merged.convertProfile(SRGB, import_photoshop4.constants.Intent.RELATIVECOLORIMETRIC, true, false);
  }
  if (merged.bitsPerChannel !== import_photoshop4.constants.BitsPerChannelType.EIGHT) {
    merged.bitsPerChannel = import_photoshop4.constants.BitsPerChannelType.EIGHT;
  }
  let [left, top] = [0, 0];
  if (preset.area === "content") {
    left = Math.max(0, Math.round(layer.bounds.left));
    top = Math.max(0, Math.round(layer.bounds.top));
    await merged.trim(import_photoshop4.constants.TrimType.TRANSPARENT, true, true, true, true);
  }
  const [width, height] = sized(merged.width, merged.height, preset);
  if (width !== merged.width || height !== merged.height) {
    await merged.resizeImage(width, height, void 0, import_photoshop4.constants.ResampleMethod.AUTOMATIC);
  }
  const [wide, high] = framed(width, height, preset);
  if (wide !== width || high !== height) {
    await merged.resizeCanvas(wide, high, import_photoshop4.constants.AnchorPosition.MIDDLECENTER);
  }
  const entry = await target(out);
  try {
    await merged.saveAs.png(entry, void 0, true);
  } catch (fault) {
    const failure = typed(fault);
    failure.rolledBack = await discard(entry);
    throw failure;
  }
  if (!await isThere(out)) throw new OperationFailure("photoshop.save_failed", "the picture was not saved", out);
  return { width: merged.width, height: merged.height, left, top };
}
function sized(width, height, preset) {
  const padding = 2 * (preset.padding ?? 0);
  let scale = 1;
  if (typeof preset.percent === "number") scale = preset.percent / 100;
  else if (typeof preset.longest === "number") scale = (preset.longest - padding) / Math.max(width, height);
  else if (typeof preset.width === "number" && typeof preset.height === "number") {
    scale = Math.min((preset.width - padding) / width, (preset.height - padding) / height);
  }
  return [Math.max(1, rounded(width * scale)), Math.max(1, rounded(height * scale))];
}
function framed(width, height, preset) {
  const padding = 2 * (preset.padding ?? 0);
  const up = (side) => {
    const padded = Math.ceil(side / (preset.multiple ?? 1)) * (preset.multiple ?? 1);
    return preset.power_of_two === true ? 2 ** Math.ceil(Math.log2(padded)) : padded;
  };
  return [up(preset.width ?? width + padding), up(preset.height ?? height + padding)];
}
function rounded(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

// src/operations/finish.ts
async function finish(name) {
  const { copies } = partition(name);
  const saved = [];
  await modal("Fabric: save copies", null, async () => {
    for (const copy of copies) {
      const entry = await target(copy.path);
      const document3 = byId(copy.id);
      try {
        await (copy.path.endsWith(".psb") ? document3.saveAs.psb(entry, void 0, true) : document3.saveAs.psd(entry, void 0, true));
      } catch (fault) {
        const failure = typed(fault);
        failure.rolledBack = await discard(entry);
        throw failure;
      }
      if (!await isThere(copy.path)) {
        throw new OperationFailure("photoshop.save_failed", "the copy was not saved", copy.path);
      }
      saved.push(copy.path);
    }
  });
  await abandon();
  return { saved };
}

// src/layers.ts
var MOST_CANDIDATES = 8;
function escaped(name) {
  return name.replace(/\\/g, "\\\\").replace(/\//g, "\\/");
}
function* walk(layers, above) {
  for (const layer of layers) {
    const path = above + escaped(layer.name);
    yield { layer, path };
    yield* walk(children(layer), `${path}/`);
  }
}
function children(layer) {
  return layer.layers ?? [];
}
function matches(layers, path, found) {
  for (const layer of layers) {
    const name = layer.name.normalize("NFC");
    for (const form of /* @__PURE__ */ new Set([name, escaped(name)])) {
      if (path === form) found.add(layer.id);
      else if (path.startsWith(`${form}/`)) matches(children(layer), path.slice(form.length + 1), found);
    }
  }
}
function resolve(document3, address) {
  const shown = String(address.id ?? address.path ?? "");
  const ids = /* @__PURE__ */ new Set();
  if (typeof address.id === "number") ids.add(address.id);
  else matches(document3.layers, (address.path ?? "").normalize("NFC"), ids);
  const found = Array.from(walk(document3.layers, "")).filter((item) => ids.has(item.layer.id));
  const [first] = found;
  if (first === void 0) {
    throw new OperationFailure("photoshop.layer_not_found", `no layer fits this address: ${shown}`, "layer");
  }
  if (found.length > 1) {
    const listed = found.slice(0, MOST_CANDIDATES).map((item) => `id ${item.layer.id}: ${item.path}`).join("; ");
    throw new OperationFailure("photoshop.layer_ambiguous", `${found.length} layers fit ${shown}`, "layer", `address it by id: ${listed}`);
  }
  return first;
}
function reference(document3, layerID) {
  return [
    { _ref: "layer", _id: layerID },
    { _ref: "document", _id: document3.id }
  ];
}
function all(document3) {
  return Array.from(walk(document3.layers, ""));
}
function isLocked(layer) {
  return layer.allLocked || layer.pixelsLocked || layer.positionLocked;
}

// src/operations/move_layer.ts
async function moveLayer(args) {
  const target2 = document2();
  const { layer, path } = resolve(target2, args.layer);
  if (isLocked(layer)) throw new OperationFailure("photoshop.layer_locked", "the layer is locked", path);
  const { left, top } = layer.boundsNoEffects;
  const dx = args.dx ?? (typeof args.left === "number" ? args.left - left : 0);
  const dy = args.dy ?? (typeof args.top === "number" ? args.top - top : 0);
  if (dx !== 0 || dy !== 0) {
    await modal("Fabric: move", target2.id, async () => {
      await layer.translate(dx, dy);
      const now = resolve(target2, { id: layer.id }).layer.boundsNoEffects;
      if (Math.abs(now.left - left - dx) > 1 || Math.abs(now.top - top - dy) > 1) {
        throw new OperationFailure("photoshop.host_failed", "the layer did not move", path);
      }
    });
  }
  return { layer: path, id: layer.id, was: layer.id };
}

// src/operations/open_duplicate.ts
var import_photoshop5 = require("photoshop");
async function openDuplicate(args) {
  claim(args.copy);
  const entry = await source(args.source);
  return modal("Fabric: open a duplicate", null, async () => {
    const before = new Set(Array.from(import_photoshop5.app.documents, (item) => item.id));
    let duplicate;
    try {
      const original = await import_photoshop5.app.open(entry);
      if (before.has(original.id)) {
        throw new OperationFailure("photoshop.file_unavailable", "the input is open in Photoshop already", args.source, "close it");
      }
      duplicate = await original.duplicate(args.copy.split("/").pop() ?? args.copy, false);
      original.closeWithoutSaving();
    } catch (fault) {
      const failure = typed(fault);
      failure.rolledBack = closeAllBut(before);
      throw failure;
    }
    partition().copies.push({ path: args.copy, id: duplicate.id });
    return { width: duplicate.width, height: duplicate.height };
  });
}
function closeAllBut(before) {
  try {
    for (const item of Array.from(import_photoshop5.app.documents)) {
      if (!before.has(item.id)) item.closeWithoutSaving();
    }
    return true;
  } catch {
    return false;
  }
}

// src/operations/replace_smart_object.ts
var import_photoshop6 = require("photoshop");
var import_uxp3 = require("uxp");
var NEAR = 1;
async function replaceSmartObject(args) {
  const target2 = document2();
  const { layer, path } = resolve(target2, args.layer);
  if (layer.kind !== import_photoshop6.constants.LayerKind.SMARTOBJECT) {
    throw new OperationFailure("photoshop.not_a_smart_object", "the layer is no smart object", path);
  }
  if (isLocked(layer)) {
    throw new OperationFailure("photoshop.layer_locked", "the layer is locked", path, "unlock it in the template");
  }
  const token = import_uxp3.storage.localFileSystem.createSessionToken(await source(args.contents));
  const before = await placed(target2, layer.id);
  if (before.linked) throw new OperationFailure("photoshop.linked_object", "its contents are an outside file", path);
  if (before.filtered) throw new OperationFailure("photoshop.smart_filters", "it carries smart filters", path);
  if (args.scope !== "shared" && await isShared(target2, layer.id, before.uuid)) {
    throw new OperationFailure(
      "capability_unavailable",
      "other layers share these contents, and Photoshop replaces them for all",
      path,
      "use the scope `shared`, or the headless provider"
    );
  }
  return modal("Fabric: replace contents", target2.id, async () => {
    await play([
      { _obj: "select", _target: reference(target2, layer.id), makeVisible: false },
      { _obj: "placedLayerReplaceContents", null: { _path: token, _kind: "local" } }
    ]);
    const selected = { _ref: "layer", _enum: "ordinal", _value: "targetEnum" };
    const id = Number((await playOne({ _obj: "get", _target: [{ _property: "layerID" }, selected] }))["layerID"]);
    await bringBack(target2, id, before.corners, path);
    return { layer: path, id, was: layer.id };
  });
}
async function placed(target2, id) {
  const [more, plain] = await play(
    ["smartObjectMore", "smartObject"].map((property) => ({
      _obj: "get",
      _target: [{ _property: property }, ...reference(target2, id)]
    }))
  );
  const facts = more?.["smartObjectMore"] ?? {};
  const object = plain?.["smartObject"] ?? {};
  const corners = facts.nonAffineTransform ?? facts.transform ?? [];
  if (corners.length !== 8 || corners.some((value) => !Number.isFinite(value))) {
    throw new OperationFailure("photoshop.quad_unsupported", "Photoshop tells no placement of this smart object");
  }
  return { uuid: facts.ID ?? "", corners, linked: object.linked === true, filtered: (object.filterFX?.length ?? 0) > 0 };
}
async function isShared(target2, id, uuid) {
  for (const { layer } of all(target2)) {
    if (layer.id === id || layer.kind !== import_photoshop6.constants.LayerKind.SMARTOBJECT) continue;
    const reply = await playOne({ _obj: "get", _target: [{ _property: "smartObjectMore" }, ...reference(target2, layer.id)] });
    if (reply["smartObjectMore"]?.ID === uuid) return true;
  }
  return false;
}
async function bringBack(target2, id, wanted, path) {
  const found = (await placed(target2, id)).corners;
  if (near(found, wanted)) return;
  const [from, to] = [upright(found), upright(wanted)];
  if (from === null || to === null) {
    throw new OperationFailure("photoshop.quad_unsupported", "the new contents do not fit the placement", path, "give contents of the same size");
  }
  const { layer } = resolve(target2, { id });
  await layer.scale(100 * to.width / from.width, 100 * to.height / from.height, import_photoshop6.constants.AnchorPosition.MIDDLECENTER);
  const scaled = upright((await placed(target2, id)).corners);
  if (scaled !== null) await layer.translate(to.left - scaled.left, to.top - scaled.top);
  if (!near((await placed(target2, id)).corners, wanted)) {
    throw new OperationFailure("photoshop.quad_unsupported", "the new contents could not be put where the old were", path);
  }
}
function near(found, wanted) {
  return wanted.every((value, i) => Math.abs(value - (found[i] ?? NaN)) <= NEAR);
}
function upright(corners) {
  const [ax = NaN, ay = NaN, bx = NaN, by = NaN, cx = NaN, cy = NaN, dx = NaN, dy = NaN] = corners;
  const straight = [ay - by, bx - cx, cy - dy, dx - ax].every((value) => Math.abs(value) <= NEAR);
  return straight && bx > ax && dy > ay ? { left: ax, top: ay, width: bx - ax, height: dy - ay } : null;
}

// src/operations/set_text.ts
var import_photoshop7 = require("photoshop");
async function setText(args) {
  const target2 = document2();
  const { layer, path } = resolve(target2, args.layer);
  if (layer.kind !== import_photoshop7.constants.LayerKind.TEXT) {
    throw new OperationFailure("photoshop.layer_kind", "the layer is no text", path);
  }
  if (isLocked(layer)) throw new OperationFailure("photoshop.layer_locked", "the layer is locked", path);
  const font = layer.textItem.characterStyle.font;
  if (!hasFont(font)) throw new OperationFailure("photoshop.font_missing", `Photoshop has no font ${font}`, path);
  if (layer.textItem.isParagraphText && args.overflow !== "cut") {
    throw new OperationFailure(
      "capability_unavailable",
      "Photoshop does not tell whether paragraph text overflows its box",
      path,
      "allow it to be cut off, use point text, or the headless provider"
    );
  }
  const words = args.text.replace(/\n/g, "\r");
  await modal("Fabric: set text", target2.id, async () => {
    await playOne({ _obj: "set", _target: reference(target2, layer.id), to: { _obj: "textLayer", textKey: words } });
    const found = resolve(target2, { id: layer.id }).layer.textItem.contents;
    if (lines(found) !== lines(words)) throw new OperationFailure("photoshop.host_failed", "the text did not change", path);
  });
  return { layer: path, id: layer.id, was: layer.id };
}
function lines(text) {
  return text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
}
function hasFont(postScriptName) {
  try {
    return import_photoshop7.app.fonts.getByName(postScriptName) !== void 0;
  } catch {
    return false;
  }
}

// src/operations/set_visibility.ts
async function setVisibility(args) {
  const target2 = document2();
  const { layer, path } = resolve(target2, args.layer);
  if (layer.visible !== args.visible) {
    await modal("Fabric: set visibility", target2.id, async () => {
      await playOne({ _obj: args.visible ? "show" : "hide", _target: reference(target2, layer.id) });
      if (resolve(target2, { id: layer.id }).layer.visible !== args.visible) {
        throw new OperationFailure("photoshop.host_failed", "the layer's visibility did not change", path);
      }
    });
  }
  return { layer: path, id: layer.id, was: layer.id };
}

// src/generated/protocol.schema.json
var protocol_schema_default = {
  $defs: {
    ApplyLayerComp: {
      additionalProperties: false,
      properties: {
        comp: {
          anyOf: [
            {
              type: "string"
            },
            {
              type: "integer"
            }
          ]
        }
      },
      required: [
        "comp"
      ],
      type: "object"
    },
    Begin: {
      additionalProperties: false,
      properties: {
        folder: {
          maxLength: 4096,
          minLength: 1,
          type: "string"
        },
        partition: {
          pattern: "^[0-9a-f]{32}$",
          type: "string"
        },
        sources: {
          additionalProperties: {
            type: "string"
          },
          type: "object"
        }
      },
      required: [
        "partition",
        "folder"
      ],
      type: "object"
    },
    Comp: {
      additionalProperties: false,
      properties: {
        comp: {
          maxLength: 4096,
          type: "string"
        },
        id: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        }
      },
      required: [
        "comp",
        "id"
      ],
      type: "object"
    },
    ExportPng: {
      additionalProperties: false,
      properties: {
        layer: {
          anyOf: [
            {
              $ref: "#/$defs/LayerAddress"
            },
            {
              type: "null"
            }
          ]
        },
        out: {
          maxLength: 240,
          pattern: "\\.png$",
          type: "string"
        },
        preset: {
          anyOf: [
            {
              type: "string"
            },
            {
              $ref: "#/$defs/ExportPreset"
            }
          ]
        }
      },
      required: [
        "out"
      ],
      type: "object"
    },
    ExportPreset: {
      additionalProperties: false,
      properties: {
        area: {
          enum: [
            "canvas",
            "content",
            "artboard"
          ],
          type: "string"
        },
        broken_profile: {
          enum: [
            "refuse",
            "srgb"
          ],
          type: "string"
        },
        depth: {
          enum: [
            8,
            16,
            "document"
          ]
        },
        height: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: 1,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        longest: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: 1,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        multiple: {
          maximum: 64,
          minimum: 1,
          type: "integer"
        },
        padding: {
          maximum: 4096,
          minimum: 0,
          type: "integer"
        },
        percent: {
          anyOf: [
            {
              maximum: 1e3,
              minimum: 1,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        power_of_two: {
          type: "boolean"
        },
        profile: {
          enum: [
            "srgb",
            "embed"
          ],
          type: "string"
        },
        width: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: 1,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        }
      },
      type: "object"
    },
    Exported: {
      additionalProperties: false,
      properties: {
        height: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        left: {
          type: "integer"
        },
        top: {
          type: "integer"
        },
        width: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        }
      },
      required: [
        "width",
        "height",
        "left",
        "top"
      ],
      type: "object"
    },
    Host: {
      additionalProperties: false,
      properties: {
        application: {
          maxLength: 1024,
          type: "string"
        },
        documents: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        fonts: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        modal: {
          type: "boolean"
        },
        plugin: {
          maxLength: 1024,
          type: "string"
        },
        version: {
          maxLength: 1024,
          type: "string"
        }
      },
      required: [
        "application",
        "version",
        "plugin",
        "documents",
        "modal",
        "fonts"
      ],
      type: "object"
    },
    Layer: {
      additionalProperties: false,
      properties: {
        id: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        layer: {
          maxLength: 4096,
          type: "string"
        },
        was: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        }
      },
      required: [
        "layer",
        "id",
        "was"
      ],
      type: "object"
    },
    LayerAddress: {
      additionalProperties: false,
      properties: {
        id: {
          anyOf: [
            {
              maximum: 4294967295,
              minimum: 0,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        path: {
          anyOf: [
            {
              maxLength: 4096,
              minLength: 1,
              type: "string"
            },
            {
              type: "null"
            }
          ]
        }
      },
      type: "object"
    },
    MoveLayer: {
      additionalProperties: false,
      properties: {
        dx: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: -3e4,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        dy: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: -3e4,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        layer: {
          $ref: "#/$defs/LayerAddress"
        },
        left: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: -3e4,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        },
        top: {
          anyOf: [
            {
              maximum: 3e4,
              minimum: -3e4,
              type: "integer"
            },
            {
              type: "null"
            }
          ]
        }
      },
      required: [
        "layer"
      ],
      type: "object"
    },
    Named: {
      additionalProperties: false,
      properties: {
        partition: {
          pattern: "^[0-9a-f]{32}$",
          type: "string"
        }
      },
      required: [
        "partition"
      ],
      type: "object"
    },
    Nothing: {
      additionalProperties: false,
      properties: {},
      type: "object"
    },
    OpenDocument: {
      additionalProperties: false,
      properties: {
        id: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        name: {
          maxLength: 1024,
          type: "string"
        },
        ours: {
          type: "boolean"
        },
        saved: {
          type: "boolean"
        }
      },
      required: [
        "id",
        "name",
        "ours",
        "saved"
      ],
      type: "object"
    },
    OpenDocuments: {
      additionalProperties: false,
      properties: {
        documents: {
          items: {
            $ref: "#/$defs/OpenDocument"
          },
          type: "array"
        }
      },
      required: [
        "documents"
      ],
      type: "object"
    },
    OpenDuplicate: {
      additionalProperties: false,
      properties: {
        copy: {
          maxLength: 240,
          pattern: "\\.(psd|psb)$",
          type: "string"
        },
        digest: {
          anyOf: [
            {
              pattern: "^sha256:[0-9a-f]{64}$",
              type: "string"
            },
            {
              type: "null"
            }
          ]
        },
        roles: {
          anyOf: [
            {
              additionalProperties: {
                $ref: "#/$defs/LayerAddress"
              },
              type: "object"
            },
            {
              type: "null"
            }
          ]
        },
        source: {
          maxLength: 1024,
          minLength: 1,
          type: "string"
        }
      },
      required: [
        "source",
        "copy"
      ],
      type: "object"
    },
    Opened: {
      additionalProperties: false,
      properties: {
        height: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        },
        width: {
          maximum: 9007199254740991,
          minimum: 0,
          type: "integer"
        }
      },
      required: [
        "width",
        "height"
      ],
      type: "object"
    },
    Remembered: {
      additionalProperties: false,
      properties: {
        identity: {
          maxLength: 1024,
          type: "string"
        },
        method: {
          maxLength: 1024,
          type: "string"
        },
        state: {
          pattern: "^(running|completed|failed)$",
          type: "string"
        }
      },
      required: [
        "identity",
        "method",
        "state"
      ],
      type: "object"
    },
    RememberedRequests: {
      additionalProperties: false,
      properties: {
        requests: {
          items: {
            $ref: "#/$defs/Remembered"
          },
          maxItems: 256,
          type: "array"
        }
      },
      required: [
        "requests"
      ],
      type: "object"
    },
    ReplaceSmartObject: {
      additionalProperties: false,
      properties: {
        contents: {
          maxLength: 1024,
          minLength: 1,
          type: "string"
        },
        layer: {
          $ref: "#/$defs/LayerAddress"
        },
        scope: {
          enum: [
            "layer",
            "shared"
          ],
          type: "string"
        },
        unproven: {
          enum: [
            "refuse",
            "allow"
          ],
          type: "string"
        }
      },
      required: [
        "layer",
        "contents"
      ],
      type: "object"
    },
    Saved: {
      additionalProperties: false,
      properties: {
        saved: {
          items: {
            type: "string"
          },
          maxItems: 256,
          type: "array"
        }
      },
      required: [
        "saved"
      ],
      type: "object"
    },
    SetText: {
      additionalProperties: false,
      properties: {
        layer: {
          $ref: "#/$defs/LayerAddress"
        },
        overflow: {
          enum: [
            "refuse",
            "cut"
          ],
          type: "string"
        },
        text: {
          maxLength: 4e3,
          minLength: 1,
          pattern: "^[^\\x00-\\x09\\x0b-\\x1f\\x7f\\x80-\\x9f\\u2028\\u2029]*$",
          type: "string"
        }
      },
      required: [
        "layer",
        "text"
      ],
      type: "object"
    },
    SetVisibility: {
      additionalProperties: false,
      properties: {
        layer: {
          $ref: "#/$defs/LayerAddress"
        },
        visible: {
          type: "boolean"
        }
      },
      required: [
        "layer",
        "visible"
      ],
      type: "object"
    }
  },
  $id: "fabric.photoshop-uxp.v1",
  $schema: "https://json-schema.org/draft/2020-12/schema",
  failures: [
    "capability_unavailable",
    "photoshop.busy",
    "photoshop.cancelled",
    "photoshop.comp_ambiguous",
    "photoshop.comp_not_found",
    "photoshop.contents_format",
    "photoshop.file_unavailable",
    "photoshop.font_missing",
    "photoshop.host_failed",
    "photoshop.layer_ambiguous",
    "photoshop.layer_kind",
    "photoshop.layer_locked",
    "photoshop.layer_not_found",
    "photoshop.linked_object",
    "photoshop.no_document",
    "photoshop.not_a_smart_object",
    "photoshop.nothing_visible",
    "photoshop.output_twice",
    "photoshop.profile_unsupported",
    "photoshop.quad_unsupported",
    "photoshop.request_refused",
    "photoshop.save_failed",
    "photoshop.smart_filters"
  ],
  methods: {
    "inspect.documents": {
      arguments: "#/$defs/Nothing",
      readOnly: true,
      result: "#/$defs/OpenDocuments"
    },
    "inspect.host": {
      arguments: "#/$defs/Nothing",
      readOnly: true,
      result: "#/$defs/Host"
    },
    "inspect.requests": {
      arguments: "#/$defs/Nothing",
      readOnly: true,
      result: "#/$defs/RememberedRequests"
    },
    "partition.abandon": {
      arguments: "#/$defs/Named",
      readOnly: false,
      result: "#/$defs/Nothing"
    },
    "partition.begin": {
      arguments: "#/$defs/Begin",
      readOnly: false,
      result: "#/$defs/Nothing"
    },
    "partition.finish": {
      arguments: "#/$defs/Named",
      readOnly: false,
      result: "#/$defs/Saved"
    },
    "photoshop.apply_layer_comp@1": {
      arguments: "#/$defs/ApplyLayerComp",
      readOnly: false,
      result: "#/$defs/Comp"
    },
    "photoshop.export_png@1": {
      arguments: "#/$defs/ExportPng",
      readOnly: false,
      result: "#/$defs/Exported"
    },
    "photoshop.move_layer@1": {
      arguments: "#/$defs/MoveLayer",
      readOnly: false,
      result: "#/$defs/Layer"
    },
    "photoshop.open_duplicate@1": {
      arguments: "#/$defs/OpenDuplicate",
      readOnly: false,
      result: "#/$defs/Opened"
    },
    "photoshop.replace_smart_object@1": {
      arguments: "#/$defs/ReplaceSmartObject",
      readOnly: false,
      result: "#/$defs/Layer"
    },
    "photoshop.set_text@1": {
      arguments: "#/$defs/SetText",
      readOnly: false,
      result: "#/$defs/Layer"
    },
    "photoshop.set_visibility@1": {
      arguments: "#/$defs/SetVisibility",
      readOnly: false,
      result: "#/$defs/Layer"
    }
  }
};

// src/validate.ts
var DEFINITIONS = protocol_schema_default.$defs;
var METHODS = protocol_schema_default.methods;
var PREFIX = "#/$defs/";
function isMethod(name) {
  return typeof name === "string" && Object.prototype.hasOwnProperty.call(METHODS, name);
}
function isReadOnly(name) {
  return METHODS[name].readOnly;
}
function wrongArgument(name, value) {
  return wrong({ $ref: METHODS[name].arguments }, value, "arguments");
}
function wrong(schema, value, where) {
  if (schema.$ref !== void 0) {
    const target2 = DEFINITIONS[schema.$ref.slice(PREFIX.length)];
    return target2 === void 0 ? where : wrong(target2, value, where);
  }
  if (schema.anyOf !== void 0) {
    return schema.anyOf.some((option) => wrong(option, value, where) === null) ? null : where;
  }
  if ("const" in schema && value !== schema.const) return where;
  if (schema.enum !== void 0 && !schema.enum.includes(value)) return where;
  switch (schema.type) {
    case void 0:
      return null;
    case "null":
      return value === null ? null : where;
    case "boolean":
      return typeof value === "boolean" ? null : where;
    case "integer":
      return Number.isSafeInteger(value) && inRange(value, schema.minimum, schema.maximum) ? null : where;
    case "string":
      return typeof value === "string" && fits(value, schema) ? null : where;
    case "array":
      return wrongItem(schema, value, where);
    case "object":
      return wrongProperty(schema, value, where);
    default:
      return where;
  }
}
function inRange(value, least = -Infinity, most = Infinity) {
  return least <= value && value <= most;
}
function fits(value, schema) {
  const length = Array.from(value).length;
  return inRange(length, schema.minLength, schema.maxLength) && new RegExp(schema.pattern ?? "", "u").test(value);
}
function wrongItem(schema, value, where) {
  if (!Array.isArray(value) || !inRange(value.length, schema.minItems, schema.maxItems)) return where;
  for (const [index, item] of value.entries()) {
    const found = schema.items && wrong(schema.items, item, `${where}[${index}]`);
    if (found) return found;
  }
  return null;
}
function wrongProperty(schema, value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return where;
  for (const name of schema.required ?? []) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) return `${where}.${name}`;
  }
  for (const [name, item] of Object.entries(value)) {
    const declared = Object.prototype.hasOwnProperty.call(schema.properties ?? {}, name);
    const known = declared ? schema.properties?.[name] : schema.additionalProperties;
    if (known === void 0 || known === false) return `${where}.${name}`;
    const found = known === true ? null : wrong(known, item, `${where}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

// src/rpc.ts
var HANDLERS = {
  "photoshop.open_duplicate@1": openDuplicate,
  "photoshop.replace_smart_object@1": replaceSmartObject,
  "photoshop.set_visibility@1": setVisibility,
  "photoshop.export_png@1": exportPng,
  "photoshop.set_text@1": setText,
  "photoshop.move_layer@1": moveLayer,
  "photoshop.apply_layer_comp@1": applyLayerComp,
  "partition.begin": async (args) => {
    await begin(args);
    return {};
  },
  "partition.finish": (args) => finish(args.partition),
  "partition.abandon": async (args) => {
    partition(args.partition);
    await abandon();
    return {};
  },
  "inspect.host": inspectHost,
  "inspect.documents": inspectDocuments,
  "inspect.requests": () => ({ requests: remembered.slice(-MOST_REMEMBERED) })
};
var MOST_REMEMBERED = 256;
var MOST_IDENTITIES = 65536;
var IDENTITY = /^sha256:[0-9a-f]{64}$/;
var remembered = [];
var identities = /* @__PURE__ */ new Set();
var Session = class {
  constructor(name, send) {
    this.name = name;
    this.send = send;
    this.last = 0;
    this.working = false;
    this.work = Promise.resolve();
  }
  /** Resolves when nothing is worked on. */
  settled() {
    return this.work;
  }
  /** One frame of the other side, to be worked on; never rejects. */
  receive(text) {
    const before = this.working;
    const done = this.serve(text);
    if (!before && this.working) this.work = done;
  }
  /** A frame that is no request of this session is answered, never done. */
  async serve(text) {
    let id = null;
    try {
      const frame = text.length > MOST_BYTES ? null : JSON.parse(text);
      id = idOf(frame);
      const request = this.admit(frame);
      const result = await this.perform(request);
      this.reply({ id, result });
    } catch (fault) {
      const failure = fault instanceof SyntaxError ? refused("this is no JSON") : typed(fault);
      const { code, where, mend, rolledBack } = failure;
      const data = { code, where: where.slice(0, 1024), mend: mend.slice(0, 2048), rolled_back: rolledBack };
      this.reply({ id: id ?? "", error: { code: -32e3, message: failure.message.slice(0, 4096), data } });
    }
  }
  reply(frame) {
    this.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }
  /** The request in a frame, unless it is malformed, of another session, old, repeated or unknown. */
  admit(frame) {
    const { jsonrpc, id, method, params, ...more } = frame;
    const { session, identity, arguments: args, ...others } = params ?? {};
    if (jsonrpc !== "2.0" || Object.keys(more).length > 0 || Object.keys(others).length > 0) throw refused("this is no request");
    if (session !== this.name || typeof id !== "string" || !id.startsWith(`${this.name}-`)) throw refused("another session's request");
    const number = Number(id.slice(this.name.length + 1));
    if (!Number.isSafeInteger(number) || number <= this.last) throw refused("an old request");
    this.last = number;
    if (typeof identity !== "string" || !IDENTITY.test(identity) || identities.has(identity)) throw refused("a repeated request");
    if (identities.size >= MOST_IDENTITIES) throw refused("too many requests; load the plugin again");
    identities.add(identity);
    if (!isMethod(method)) throw refused("there is no such method");
    const wrong2 = wrongArgument(method, args);
    if (wrong2 !== null) throw new OperationFailure("photoshop.request_refused", "an argument is not what the method takes", wrong2);
    if (this.working && !isReadOnly(method)) throw new OperationFailure("photoshop.busy", "another request is worked on");
    return { id, method, identity, args };
  }
  async perform({ id, method, identity, args }) {
    const handler = HANDLERS[method];
    if (isReadOnly(method)) return handler(args);
    this.working = true;
    const note = { identity, method, state: "running" };
    remembered = [...remembered.slice(1 - MOST_REMEMBERED), note];
    try {
      this.reply({ method: "accepted", params: { id } });
      const result = await handler(args);
      note.state = "completed";
      return result;
    } catch (fault) {
      note.state = "failed";
      throw fault;
    } finally {
      this.working = false;
    }
  }
};
function idOf(frame) {
  if (typeof frame !== "object" || frame === null) throw refused("this is no request");
  const { id } = frame;
  return typeof id === "string" ? id.slice(0, 80) : null;
}
function refused(what) {
  return new OperationFailure("photoshop.request_refused", what);
}

// src/link.ts
var ADDRESS = `ws://127.0.0.1:${PORT}/fabric`;
var FIRST_WAIT = 500;
var LONGEST_WAIT = 5e3;
var Link = class {
  constructor(tell2) {
    this.tell = tell2;
    this.socket = null;
    this.timer = null;
    this.wait = FIRST_WAIT;
    this.wanted = false;
  }
  /** Dial with `token`, and again whenever the connection ends. */
  start(token) {
    this.stop();
    this.wanted = true;
    this.wait = FIRST_WAIT;
    this.dial(token);
  }
  stop() {
    this.wanted = false;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.socket?.close();
    this.socket = null;
  }
  dial(token) {
    let expected = null;
    let session = null;
    let open = true;
    const socket = new WebSocket(ADDRESS);
    this.socket = socket;
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") return;
      if (session !== null) {
        session.receive(event.data);
        return;
      }
      const [method, params] = handshakeFrame(event.data);
      if (expected === null && method === "session.challenge" && isChallenge(params)) {
        if (!sameSchema(params)) this.tell("Fabric has another version: install the plugin that comes with it.");
        expected = answer(token, params);
        const about = { plugin: import_uxp4.versions.plugin, application: import_uxp4.host.name, version: import_uxp4.host.version };
        const proof = { schema: params.schema, nonce: expected.nonce, proof: expected.proof, ...about };
        socket.send(JSON.stringify({ jsonrpc: "2.0", method: "session.proof", params: proof }));
      } else if (expected !== null && method === "session.open" && isOpening(params, expected)) {
        session = new Session(expected.session, (text) => {
          if (open) socket.send(text);
        });
        this.wait = FIRST_WAIT;
        this.tell("Connected.");
      } else {
        this.tell("What listens there is not the Fabric that this plugin is paired with.");
        socket.close(4400, "not paired");
      }
    };
    socket.onclose = (event) => {
      open = false;
      this.ended(token, socket, session, event.code);
    };
    socket.onerror = () => void 0;
  }
  ended(token, socket, session, code) {
    if (session !== null) {
      session.settled().then(abandon).catch(() => {
        this.tell("A duplicate could not be closed: close it by hand, unsaved.");
      });
    }
    if (!this.wanted || this.socket !== socket) return;
    if (code === 4401) this.tell("The token is not the one that Fabric shows: pair again.");
    else if (code === 4426) this.tell("Fabric has another version: install the plugin that comes with it.");
    else this.tell("Waiting for Fabric.");
    this.timer = setTimeout(() => {
      this.dial(token);
    }, this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }
};
function handshakeFrame(text) {
  try {
    const { method, params } = JSON.parse(text);
    return [method, params];
  } catch {
    return [null, null];
  }
}
function isOpening(value, expected) {
  const { session, signature } = value ?? {};
  return typeof signature === "string" && same(signature, expected.signature) && session === expected.session;
}

// src/main.ts
var KEY = "fabric-pairing-token";
var line = null;
var said = "Not paired.";
function tell(text) {
  said = text;
  if (line !== null) line.textContent = text;
}
var link = new Link(tell);
async function begin2() {
  const kept = await import_uxp5.storage.secureStorage.getItem(KEY);
  const token = kept === null ? "" : Array.from(kept, (byte) => String.fromCharCode(byte)).join("");
  if (isToken(token)) link.start(token);
  else tell("Run `fabric photoshop pair` and paste the token.");
}
async function pair(token) {
  if (!isToken(token)) {
    tell("That is no token of Fabric's: 64 digits from 0 to f.");
    return;
  }
  await import_uxp5.storage.secureStorage.setItem(KEY, token);
  link.start(token);
}
async function forget() {
  link.stop();
  await import_uxp5.storage.secureStorage.removeItem(KEY);
  tell("Not paired.");
}
function button(text, work) {
  const node = document.createElement("sp-button");
  node.textContent = text;
  node.addEventListener("click", () => {
    work().catch(() => {
      tell("The token could not be stored by Photoshop.");
    });
  });
  return node;
}
function draw(root) {
  const field = document.createElement("sp-textfield");
  field.setAttribute("type", "password");
  field.setAttribute("placeholder", "Pairing token");
  root.appendChild(field);
  root.appendChild(
    button("Pair", async () => {
      const token = field.value.trim();
      field.value = "";
      await pair(token);
    })
  );
  root.appendChild(button("Forget", forget));
  line = document.createElement("p");
  line.textContent = said;
  root.appendChild(line);
}
import_uxp5.entrypoints.setup({
  plugin: {
    create: () => {
      begin2().catch(() => {
        tell("The stored token could not be read.");
      });
    }
  },
  panels: { fabric: { create: draw } }
});
