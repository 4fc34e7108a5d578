// photoshop.set_visibility@1: one layer's eye.
import type { Layer, SetVisibility } from "../generated/protocol";
import { OperationFailure } from "../failure";
import { modal, playOne } from "../host";
import { reference, resolve } from "../layers";
import { document } from "../partition";

export async function setVisibility(args: SetVisibility): Promise<Layer> {
  const target = document();
  const { layer, path } = resolve(target, args.layer);
  if (layer.visible !== args.visible) {
    await modal("Fabric: set visibility", target.id, async () => {
      await playOne({ _obj: args.visible ? "show" : "hide", _target: reference(target, layer.id) });
      if (resolve(target, { id: layer.id }).layer.visible !== args.visible) {
        throw new OperationFailure("photoshop.host_failed", "the layer's visibility did not change", path);
      }
    });
  }
  return { layer: path, id: layer.id, was: layer.id };
}
