// photoshop.apply_layer_comp@1: a recorded state of all layers.
import { OperationFailure } from "../failure";
import type { ApplyLayerComp, Comp } from "../generated/protocol";
import { modal } from "../host";
import { document } from "../partition";

export async function applyLayerComp(args: ApplyLayerComp): Promise<Comp> {
  const target = document();
  const { comp: wanted } = args;
  const found = Array.from(target.layerComps).filter((comp) =>
    typeof wanted === "number" ? comp.id === wanted : comp.name.normalize("NFC") === wanted.normalize("NFC"),
  );
  const [comp] = found;
  if (comp === undefined) throw new OperationFailure("photoshop.comp_not_found", `there is no comp ${wanted}`, "comp");
  if (found.length > 1) {
    const ids = found.map((item) => item.id).join(", ");
    throw new OperationFailure("photoshop.comp_ambiguous", `${found.length} comps are called ${wanted}`, "comp", `name it by its id: ${ids}`);
  }
  await modal("Fabric: apply a comp", target.id, () => comp.apply());
  return { comp: comp.name, id: comp.id };
}
