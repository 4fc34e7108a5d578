// photoshop.replace_smart_object@1: other contents, in the same place.
import { constants } from "photoshop";
import type { Document } from "photoshop/dom/Document";
import { storage } from "uxp";

import { OperationFailure } from "../failure";
import type { Layer, ReplaceSmartObject } from "../generated/protocol";
import { modal, play, playOne } from "../host";
import { all, isLocked, reference, resolve } from "../layers";
import { document, source } from "../partition";

/** Corners may be off by this many pixels: Photoshop places to a fraction of one. */
const NEAR = 1;

type Corners = readonly number[];

interface Placed {
  readonly uuid: string;
  readonly corners: Corners;
  readonly linked: boolean;
  readonly filtered: boolean;
}

export async function replaceSmartObject(args: ReplaceSmartObject): Promise<Layer> {
  const target = document();
  const { layer, path } = resolve(target, args.layer);
  if (layer.kind !== constants.LayerKind.SMARTOBJECT) {
    throw new OperationFailure("photoshop.not_a_smart_object", "the layer is no smart object", path);
  }
  if (isLocked(layer)) {
    throw new OperationFailure("photoshop.layer_locked", "the layer is locked", path, "unlock it in the template");
  }
  const token = storage.localFileSystem.createSessionToken(await source(args.contents));
  const before = await placed(target, layer.id);
  if (before.linked) throw new OperationFailure("photoshop.linked_object", "its contents are an outside file", path);
  if (before.filtered) throw new OperationFailure("photoshop.smart_filters", "it carries smart filters", path);
  if (args.scope !== "shared" && (await isShared(target, layer.id, before.uuid))) {
    throw new OperationFailure(
      "capability_unavailable",
      "other layers share these contents, and Photoshop replaces them for all",
      path,
      "use the scope `shared`, or the headless provider",
    );
  }
  return modal("Fabric: replace contents", target.id, async () => {
    await play([
      { _obj: "select", _target: reference(target, layer.id), makeVisible: false },
      { _obj: "placedLayerReplaceContents", null: { _path: token, _kind: "local" } },
    ]);
    // Replacing may give the layer another id: it is asked for, never assumed.
    const selected = { _ref: "layer", _enum: "ordinal", _value: "targetEnum" };
    const id = Number((await playOne({ _obj: "get", _target: [{ _property: "layerID" }, selected] }))["layerID"]);
    await bringBack(target, id, before.corners, path);
    return { layer: path, id, was: layer.id };
  });
}

/** Where a smart object is and what it holds. */
async function placed(target: Document, id: number): Promise<Placed> {
  const [more, plain] = await play(
    ["smartObjectMore", "smartObject"].map((property) => ({
      _obj: "get",
      _target: [{ _property: property }, ...reference(target, id)],
    })),
  );
  const facts = (more?.["smartObjectMore"] ?? {}) as { ID?: string; transform?: number[]; nonAffineTransform?: number[] };
  const object = (plain?.["smartObject"] ?? {}) as { linked?: boolean; filterFX?: unknown[] };
  const corners = facts.nonAffineTransform ?? facts.transform ?? [];
  if (corners.length !== 8 || corners.some((value) => !Number.isFinite(value))) {
    throw new OperationFailure("photoshop.quad_unsupported", "Photoshop tells no placement of this smart object");
  }
  return { uuid: facts.ID ?? "", corners, linked: object.linked === true, filtered: (object.filterFX?.length ?? 0) > 0 };
}

async function isShared(target: Document, id: number, uuid: string): Promise<boolean> {
  for (const { layer } of all(target)) {
    if (layer.id === id || layer.kind !== constants.LayerKind.SMARTOBJECT) continue;
    const reply = await playOne({ _obj: "get", _target: [{ _property: "smartObjectMore" }, ...reference(target, layer.id)] });
    if ((reply["smartObjectMore"] as { ID?: string } | undefined)?.ID === uuid) return true;
  }
  return false;
}

/** Photoshop keeps the scale, not the place: contents of another size are fitted into the corners of before. */
async function bringBack(target: Document, id: number, wanted: Corners, path: string): Promise<void> {
  const found = (await placed(target, id)).corners;
  if (near(found, wanted)) return;
  const [from, to] = [upright(found), upright(wanted)];
  if (from === null || to === null) {
    throw new OperationFailure("photoshop.quad_unsupported", "the new contents do not fit the placement", path, "give contents of the same size");
  }
  const { layer } = resolve(target, { id });
  await layer.scale((100 * to.width) / from.width, (100 * to.height) / from.height, constants.AnchorPosition.MIDDLECENTER);
  const scaled = upright((await placed(target, id)).corners);
  if (scaled !== null) await layer.translate(to.left - scaled.left, to.top - scaled.top);
  if (!near((await placed(target, id)).corners, wanted)) {
    throw new OperationFailure("photoshop.quad_unsupported", "the new contents could not be put where the old were", path);
  }
}

function near(found: Corners, wanted: Corners): boolean {
  return wanted.every((value, i) => Math.abs(value - (found[i] ?? NaN)) <= NEAR);
}

/** The rectangle of corners that stand upright, else null. Top left, top right, bottom right, bottom left. */
function upright(corners: Corners): { left: number; top: number; width: number; height: number } | null {
  const [ax = NaN, ay = NaN, bx = NaN, by = NaN, cx = NaN, cy = NaN, dx = NaN, dy = NaN] = corners;
  const straight = [ay - by, bx - cx, cy - dy, dx - ax].every((value) => Math.abs(value) <= NEAR);
  return straight && bx > ax && dy > ay ? { left: ax, top: ay, width: bx - ax, height: dy - ay } : null;
}
