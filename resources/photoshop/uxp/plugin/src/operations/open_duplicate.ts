// photoshop.open_duplicate@1: open an input of the stage, duplicate it, close what was opened.
import { app } from "photoshop";

import { OperationFailure, typed } from "../failure";
import type { OpenDuplicate, Opened } from "../generated/protocol";
import { modal } from "../host";
import { claim, partition, source } from "../partition";

export async function openDuplicate(args: OpenDuplicate): Promise<Opened> {
  claim(args.copy);
  const entry = await source(args.source);
  return modal("Fabric: open a duplicate", null, async () => {
    const before = new Set(Array.from(app.documents, (item) => item.id));
    let duplicate;
    try {
      const original = await app.open(entry);
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

/** Close every document that was not open before; whether that worked. */
function closeAllBut(before: ReadonlySet<number>): boolean {
  try {
    for (const item of Array.from(app.documents)) {
      if (!before.has(item.id)) item.closeWithoutSaving();
    }
    return true;
  } catch {
    return false;
  }
}
