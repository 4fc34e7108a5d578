// partition.finish: save every duplicate as a copy into the stage, then close it.
import { OperationFailure, typed } from "../failure";
import type { Saved } from "../generated/protocol";
import { modal } from "../host";
import { abandon, byId, discard, isThere, partition, target } from "../partition";

export async function finish(name: string): Promise<Saved> {
  const { copies } = partition(name);
  const saved: string[] = [];
  await modal("Fabric: save copies", null, async () => {
    for (const copy of copies) {
      const entry = await target(copy.path);
      const document = byId(copy.id);
      try {
        // Always as a copy: the duplicate stays what it is, and no file of anybody's becomes its own.
        await (copy.path.endsWith(".psb")
          ? document.saveAs.psb(entry, undefined, true)
          : document.saveAs.psd(entry, undefined, true));
      } catch (fault) {
        const failure = typed(fault);
        failure.rolledBack = await discard(entry);
        throw failure;
      }
      if (!(await isThere(copy.path))) {
        throw new OperationFailure("photoshop.save_failed", "the copy was not saved", copy.path);
      }
      saved.push(copy.path);
    }
  });
  await abandon();
  return { saved };
}
