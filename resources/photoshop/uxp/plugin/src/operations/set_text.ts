// photoshop.set_text@1: other words in a text layer; Photoshop draws them.
import { app, constants } from "photoshop";

import { OperationFailure } from "../failure";
import type { Layer, SetText } from "../generated/protocol";
import { modal, playOne } from "../host";
import { isLocked, reference, resolve } from "../layers";
import { document } from "../partition";

export async function setText(args: SetText): Promise<Layer> {
  const target = document();
  const { layer, path } = resolve(target, args.layer);
  if (layer.kind !== constants.LayerKind.TEXT) {
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
      "allow it to be cut off, use point text, or the headless provider",
    );
  }
  // Photoshop parts lines by carriage returns.
  const words = args.text.replace(/\n/g, "\r");
  await modal("Fabric: set text", target.id, async () => {
    await playOne({ _obj: "set", _target: reference(target, layer.id), to: { _obj: "textLayer", textKey: words } });
    const found = resolve(target, { id: layer.id }).layer.textItem.contents;
    if (lines(found) !== lines(words)) throw new OperationFailure("photoshop.host_failed", "the text did not change", path);
  });
  return { layer: path, id: layer.id, was: layer.id };
}

function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
}

function hasFont(postScriptName: string): boolean {
  try {
    return (app.fonts.getByName(postScriptName) as unknown) !== undefined;
  } catch {
    return false;
  }
}
