// photoshop.export_png@1: what is visible, on a merged duplicate, by the preset's own arithmetic.
import { constants } from "photoshop";
import type { Document } from "photoshop/dom/Document";

import { OperationFailure, typed } from "../failure";
import type { Exported, ExportPng, ExportPreset } from "../generated/protocol";
import { modal, playOne } from "../host";
import { claim, discard, document, isThere, target } from "../partition";

const SRGB = "sRGB IEC61966-2.1";

export async function exportPng(args: ExportPng): Promise<Exported> {
  const preset = args.preset ?? {};
  if (typeof preset === "string") {
    throw new OperationFailure("photoshop.request_refused", "presets arrive as objects", "preset");
  }
  const from = document();
  if (from.mode !== constants.DocumentMode.RGB && from.mode !== constants.DocumentMode.GRAYSCALE) {
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

async function save(merged: Document, preset: ExportPreset, out: string): Promise<Exported> {
  if (merged.backgroundLayer !== null) {
    // A background can't be transparent: what is added around it would be painted.
    await playOne({
      _obj: "set",
      _target: [{ _ref: "layer", _property: "background" }, { _ref: "document", _id: merged.id }],
      to: { _obj: "layer" },
    });
  }
  const [layer] = Array.from(merged.layers);
  if (layer === undefined || layer.bounds.right <= layer.bounds.left) {
    throw new OperationFailure("photoshop.nothing_visible", "nothing that is visible is to be exported");
  }
  if (merged.mode !== constants.DocumentMode.RGB) await merged.changeMode(constants.ChangeMode.RGB);
  if (merged.colorProfileType !== constants.ColorProfileType.NONE) {
    await merged.convertProfile(SRGB, constants.Intent.RELATIVECOLORIMETRIC, true, false);
  }
  if (merged.bitsPerChannel !== constants.BitsPerChannelType.EIGHT) {
    merged.bitsPerChannel = constants.BitsPerChannelType.EIGHT;
  }
  let [left, top] = [0, 0];
  if (preset.area === "content") {
    left = Math.max(0, Math.round(layer.bounds.left));
    top = Math.max(0, Math.round(layer.bounds.top));
    await merged.trim(constants.TrimType.TRANSPARENT, true, true, true, true);
  }
  const [width, height] = sized(merged.width, merged.height, preset);
  if (width !== merged.width || height !== merged.height) {
    await merged.resizeImage(width, height, undefined, constants.ResampleMethod.AUTOMATIC);
  }
  const [wide, high] = framed(width, height, preset);
  if (wide !== width || high !== height) {
    await merged.resizeCanvas(wide, high, constants.AnchorPosition.MIDDLECENTER);
  }
  const entry = await target(out);
  try {
    await merged.saveAs.png(entry, undefined, true);
  } catch (fault) {
    const failure = typed(fault);
    failure.rolledBack = await discard(entry);
    throw failure;
  }
  if (!(await isThere(out))) throw new OperationFailure("photoshop.save_failed", "the picture was not saved", out);
  return { width: merged.width, height: merged.height, left, top };
}

/** The picture's size without its frame. */
function sized(width: number, height: number, preset: ExportPreset): [number, number] {
  const padding = 2 * (preset.padding ?? 0);
  let scale = 1;
  if (typeof preset.percent === "number") scale = preset.percent / 100;
  else if (typeof preset.longest === "number") scale = (preset.longest - padding) / Math.max(width, height);
  else if (typeof preset.width === "number" && typeof preset.height === "number") {
    scale = Math.min((preset.width - padding) / width, (preset.height - padding) / height);
  }
  return [Math.max(1, rounded(width * scale)), Math.max(1, rounded(height * scale))];
}

/** The size with padding, the exact frame and what the multiple needs. */
function framed(width: number, height: number, preset: ExportPreset): [number, number] {
  const padding = 2 * (preset.padding ?? 0);
  const up = (side: number): number => {
    const padded = Math.ceil(side / (preset.multiple ?? 1)) * (preset.multiple ?? 1);
    return preset.power_of_two === true ? 2 ** Math.ceil(Math.log2(padded)) : padded;
  };
  return [up(preset.width ?? width + padding), up(preset.height ?? height + padding)];
}

/** Round half to even, as the headless provider does. */
function rounded(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
