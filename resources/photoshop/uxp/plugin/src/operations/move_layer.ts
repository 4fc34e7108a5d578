// photoshop.move_layer@1: another place for a layer or group.
import { OperationFailure } from "../failure";
import type { Layer, MoveLayer } from "../generated/protocol";
import { modal } from "../host";
import { isLocked, resolve } from "../layers";
import { document } from "../partition";

export async function moveLayer(args: MoveLayer): Promise<Layer> {
  const target = document();
  const { layer, path } = resolve(target, args.layer);
  if (isLocked(layer)) throw new OperationFailure("photoshop.layer_locked", "the layer is locked", path);
  const { left, top } = layer.boundsNoEffects;
  const dx = args.dx ?? (typeof args.left === "number" ? args.left - left : 0);
  const dy = args.dy ?? (typeof args.top === "number" ? args.top - top : 0);
  if (dx !== 0 || dy !== 0) {
    await modal("Fabric: move", target.id, async () => {
      await layer.translate(dx, dy);
      const now = resolve(target, { id: layer.id }).layer.boundsNoEffects;
      if (Math.abs(now.left - left - dx) > 1 || Math.abs(now.top - top - dy) > 1) {
        throw new OperationFailure("photoshop.host_failed", "the layer did not move", path);
      }
    });
  }
  return { layer: path, id: layer.id, was: layer.id };
}
