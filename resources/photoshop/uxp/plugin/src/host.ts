// The only two doors into Photoshop: play() for actions, modal() for anything that changes a document.
import { action, core } from "photoshop";
import type { ActionDescriptor, ExecutionContext } from "photoshop/dom/CoreModules";

import { OperationFailure, typed } from "./failure";

/**
 * Play descriptors and check every element of the reply: batchPlay resolves also where a command failed, with an
 * element `_obj: "error"` in its place, and with fewer elements where it stopped.
 */
export async function play(commands: ActionDescriptor[]): Promise<ActionDescriptor[]> {
  const replies = await action.batchPlay(commands, { dialogOptions: "silent" });
  for (const reply of replies) {
    if (reply._obj === "error") throw typed(reply);
  }
  if (replies.length !== commands.length) {
    throw new OperationFailure("photoshop.host_failed", `${replies.length} of ${commands.length} actions were answered`);
  }
  return replies;
}

/** Play one descriptor; its reply. */
export async function playOne(command: ActionDescriptor): Promise<ActionDescriptor> {
  const [reply] = await play([command]);
  if (reply === undefined) throw new OperationFailure("photoshop.host_failed", "an action was not answered");
  return reply;
}

/**
 * Do `work` alone in Photoshop. Where `documentID` is given its history is suspended and, on any failure,
 * rolled back; a rollback that fails itself is told as such.
 */
export async function modal<T>(
  commandName: string,
  documentID: number | null,
  work: (context: ExecutionContext) => Promise<T>,
): Promise<T> {
  // Kept here, since Photoshop may wrap what is thrown through it.
  const inner: { failure?: OperationFailure } = {};
  try {
    return await core.executeAsModal(
      async (context) => {
        try {
          return await (documentID === null ? work(context) : inHistory(context, documentID, commandName, work));
        } catch (fault) {
          inner.failure = typed(fault);
          throw inner.failure;
        }
      },
      { commandName },
    );
  } catch (fault) {
    throw inner.failure ?? typed(fault);
  }
}

async function inHistory<T>(
  context: ExecutionContext,
  documentID: number,
  name: string,
  work: (context: ExecutionContext) => Promise<T>,
): Promise<T> {
  const suspension = await context.hostControl.suspendHistory({ documentID, name });
  let value: T;
  try {
    // Closing a document makes any other one active: what acts on "the target layer" must act in this one.
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
