// Failures that the other side can read: a registered code, text for people, and whether anything is left.
import type { FailureCode } from "./generated/protocol";

export class OperationFailure extends Error {
  /** False where something of the request may be left in Photoshop or in the stage. */
  rolledBack = true;

  constructor(
    readonly code: FailureCode,
    message: string,
    readonly where = "",
    readonly mend = "",
  ) {
    super(message);
  }
}

/** Photoshop's own numbers: a user pressed Cancel; another command is modal. */
const USER_CANCELLED = -128;
const MODAL_BUSY = 9;

/** The number that Photoshop put on an error, or null. Its text is localised and decides nothing. */
export function numberOf(fault: unknown): number | null {
  if (typeof fault !== "object" || fault === null) return null;
  const { number, result } = fault as { number?: unknown; result?: unknown };
  if (typeof number === "number") return number;
  return typeof result === "number" ? result : null;
}

/** Any rejection as a typed failure. */
export function typed(fault: unknown): OperationFailure {
  if (fault instanceof OperationFailure) return fault;
  const number = numberOf(fault);
  if (number === MODAL_BUSY) {
    return new OperationFailure("photoshop.busy", "Photoshop is busy with another command", "", "end it, then run this again");
  }
  if (number === USER_CANCELLED) {
    return new OperationFailure("photoshop.cancelled", "somebody cancelled it in Photoshop");
  }
  const { message } = (fault ?? {}) as { message?: unknown };
  const told = typeof message === "string" ? message.slice(0, 500) : "it did not say why";
  return new OperationFailure("photoshop.host_failed", `Photoshop failed (${number ?? "no number"}): ${told}`);
}
