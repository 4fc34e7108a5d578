// JSON-RPC 2.0 over the proven socket: a closed table of methods, every request taken up once.
import { OperationFailure, typed } from "./failure";
import { MOST_BYTES } from "./generated/protocol";
import type { MethodName, Methods, Remembered } from "./generated/protocol";
import { inspectDocuments, inspectHost } from "./inspect";
import { applyLayerComp } from "./operations/apply_layer_comp";
import { exportPng } from "./operations/export_png";
import { finish } from "./operations/finish";
import { moveLayer } from "./operations/move_layer";
import { openDuplicate } from "./operations/open_duplicate";
import { replaceSmartObject } from "./operations/replace_smart_object";
import { setText } from "./operations/set_text";
import { setVisibility } from "./operations/set_visibility";
import { abandon, begin, partition } from "./partition";
import { isMethod, isReadOnly, wrongArgument } from "./validate";

type Handler<M extends MethodName> = (
  args: Methods[M]["arguments"],
) => Methods[M]["result"] | Promise<Methods[M]["result"]>;

/** Every method there is. The compiler refuses a table that lacks one of the protocol's, or has another. */
const HANDLERS: { readonly [M in MethodName]: Handler<M> } = {
  "photoshop.open_duplicate@1": openDuplicate,
  "photoshop.replace_smart_object@1": replaceSmartObject,
  "photoshop.set_visibility@1": setVisibility,
  "photoshop.export_png@1": exportPng,
  "photoshop.set_text@1": setText,
  "photoshop.move_layer@1": moveLayer,
  "photoshop.apply_layer_comp@1": applyLayerComp,
  "partition.begin": async (args) => {
    await begin(args);
    return {};
  },
  "partition.finish": (args) => finish(args.partition),
  "partition.abandon": async (args) => {
    partition(args.partition);
    await abandon();
    return {};
  },
  "inspect.host": inspectHost,
  "inspect.documents": inspectDocuments,
  "inspect.requests": () => ({ requests: remembered.slice(-MOST_REMEMBERED) }),
};

const MOST_REMEMBERED = 256;
const MOST_IDENTITIES = 65536;
const IDENTITY = /^sha256:[0-9a-f]{64}$/;

/** What was asked, for as long as the plugin is loaded: over all sessions. */
let remembered: Remembered[] = [];
const identities = new Set<string>();

interface Envelope {
  readonly id: string;
  readonly method: MethodName;
  readonly identity: string;
  readonly args: unknown;
}

export class Session {
  private last = 0;
  private working = false;
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly send: (text: string) => void,
  ) {}

  /** Resolves when nothing is worked on. */
  settled(): Promise<void> {
    return this.work;
  }

  /** One frame of the other side, to be worked on; never rejects. */
  receive(text: string): void {
    const before = this.working;
    const done = this.serve(text);
    if (!before && this.working) this.work = done;
  }

  /** A frame that is no request of this session is answered, never done. */
  private async serve(text: string): Promise<void> {
    let id: string | null = null;
    try {
      const frame: unknown = text.length > MOST_BYTES ? null : JSON.parse(text);
      id = idOf(frame);
      const request = this.admit(frame);
      const result = await this.perform(request);
      this.reply({ id, result });
    } catch (fault) {
      const failure = fault instanceof SyntaxError ? refused("this is no JSON") : typed(fault);
      const { code, where, mend, rolledBack } = failure;
      const data = { code, where: where.slice(0, 1024), mend: mend.slice(0, 2048), rolled_back: rolledBack };
      this.reply({ id: id ?? "", error: { code: -32000, message: failure.message.slice(0, 4096), data } });
    }
  }

  private reply(frame: object): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }

  /** The request in a frame, unless it is malformed, of another session, old, repeated or unknown. */
  private admit(frame: unknown): Envelope {
    const { jsonrpc, id, method, params, ...more } = frame as Record<string, unknown>;
    const { session, identity, arguments: args, ...others } = (params ?? {}) as Record<string, unknown>;
    if (jsonrpc !== "2.0" || Object.keys(more).length > 0 || Object.keys(others).length > 0) throw refused("this is no request");
    if (session !== this.name || typeof id !== "string" || !id.startsWith(`${this.name}-`)) throw refused("another session's request");
    const number = Number(id.slice(this.name.length + 1));
    if (!Number.isSafeInteger(number) || number <= this.last) throw refused("an old request");
    this.last = number;
    if (typeof identity !== "string" || !IDENTITY.test(identity) || identities.has(identity)) throw refused("a repeated request");
    if (identities.size >= MOST_IDENTITIES) throw refused("too many requests; load the plugin again");
    identities.add(identity);
    if (!isMethod(method)) throw refused("there is no such method");
    const wrong = wrongArgument(method, args);
    if (wrong !== null) throw new OperationFailure("photoshop.request_refused", "an argument is not what the method takes", wrong);
    if (this.working && !isReadOnly(method)) throw new OperationFailure("photoshop.busy", "another request is worked on");
    return { id, method, identity, args };
  }

  private async perform({ id, method, identity, args }: Envelope): Promise<unknown> {
    const handler = HANDLERS[method] as (args: unknown) => unknown;
    if (isReadOnly(method)) return handler(args);
    this.working = true;
    const note = { identity, method, state: "running" };
    remembered = [...remembered.slice(1 - MOST_REMEMBERED), note];
    try {
      this.reply({ method: "accepted", params: { id } });
      const result = await handler(args);
      note.state = "completed";
      return result;
    } catch (fault) {
      note.state = "failed";
      throw fault;
    } finally {
      this.working = false;
    }
  }
}

function idOf(frame: unknown): string | null {
  if (typeof frame !== "object" || frame === null) throw refused("this is no request");
  const { id } = frame as { id?: unknown };
  return typeof id === "string" ? id.slice(0, 80) : null;
}

function refused(what: string): OperationFailure {
  return new OperationFailure("photoshop.request_refused", what);
}
