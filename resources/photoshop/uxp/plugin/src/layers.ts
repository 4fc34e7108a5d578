// Find one layer by path or id, by the same rules as the headless provider, and target it by `_id`.
import type { ActionReference } from "photoshop/dom/CoreModules";
import type { Document } from "photoshop/dom/Document";
import type { Layer } from "photoshop/dom/Layer";

import { OperationFailure } from "./failure";
import type { LayerAddress } from "./generated/protocol";

const MOST_CANDIDATES = 8;

interface Found {
  readonly layer: Layer;
  readonly path: string;
}

function escaped(name: string): string {
  return name.replace(/\\/g, "\\\\").replace(/\//g, "\\/");
}

function* walk(layers: Iterable<Layer>, above: string): Generator<Found> {
  for (const layer of layers) {
    const path = above + escaped(layer.name);
    yield { layer, path };
    yield* walk(children(layer), `${path}/`);
  }
}

function children(layer: Layer): Iterable<Layer> {
  return (layer as { layers?: Iterable<Layer> | null }).layers ?? [];
}

/** Layers that `path` fits: a plain slash in it may part names or stand within one. */
function matches(layers: Iterable<Layer>, path: string, found: Set<number>): void {
  for (const layer of layers) {
    const name = layer.name.normalize("NFC");
    for (const form of new Set([name, escaped(name)])) {
      if (path === form) found.add(layer.id);
      else if (path.startsWith(`${form}/`)) matches(children(layer), path.slice(form.length + 1), found);
    }
  }
}

/** The one layer that `address` names; a typed failure lists candidates with their ids. */
export function resolve(document: Document, address: LayerAddress): Found {
  const shown = String(address.id ?? address.path ?? "");
  const ids = new Set<number>();
  if (typeof address.id === "number") ids.add(address.id);
  else matches(document.layers, (address.path ?? "").normalize("NFC"), ids);
  const found = Array.from(walk(document.layers, "")).filter((item) => ids.has(item.layer.id));
  const [first] = found;
  if (first === undefined) {
    throw new OperationFailure("photoshop.layer_not_found", `no layer fits this address: ${shown}`, "layer");
  }
  if (found.length > 1) {
    const listed = found.slice(0, MOST_CANDIDATES).map((item) => `id ${item.layer.id}: ${item.path}`).join("; ");
    throw new OperationFailure("photoshop.layer_ambiguous", `${found.length} layers fit ${shown}`, "layer", `address it by id: ${listed}`);
  }
  return first;
}

/** A layer of a document, by ids alone: never by name, never "the selected one". */
export function reference(document: Document, layerID: number): ActionReference[] {
  return [
    { _ref: "layer", _id: layerID },
    { _ref: "document", _id: document.id },
  ];
}

/** Every layer of a document. */
export function all(document: Document): Found[] {
  return Array.from(walk(document.layers, ""));
}

/** Whether anything about a layer is locked that an edit would change. */
export function isLocked(layer: Layer): boolean {
  return layer.allLocked || layer.pixelsLocked || layer.positionLocked;
}
