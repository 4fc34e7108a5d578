// The socket: dials, proves itself, obeys nobody who has not proven himself, dials again.
import { host, versions } from "uxp";

import { PORT } from "./generated/protocol";
import { answer, isChallenge, same, sameSchema } from "./handshake";
import type { Expected } from "./handshake";
import { abandon } from "./partition";
import { Session } from "./rpc";

const ADDRESS = `ws://127.0.0.1:${PORT}/fabric`;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 5000;

export type Told = (text: string) => void;

export class Link {
  private socket: WebSocket | null = null;
  private timer: number | null = null;
  private wait = FIRST_WAIT;
  private wanted = false;

  constructor(private readonly tell: Told) {}

  /** Dial with `token`, and again whenever the connection ends. */
  start(token: string): void {
    this.stop();
    this.wanted = true;
    this.wait = FIRST_WAIT;
    this.dial(token);
  }

  stop(): void {
    this.wanted = false;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.socket?.close();
    this.socket = null;
  }

  private dial(token: string): void {
    let expected: Expected | null = null;
    let session: Session | null = null;
    let open = true;
    const socket = new WebSocket(ADDRESS);
    this.socket = socket;
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") return;
      if (session !== null) {
        session.receive(event.data);
        return;
      }
      const [method, params] = handshakeFrame(event.data);
      if (expected === null && method === "session.challenge" && isChallenge(params)) {
        if (!sameSchema(params)) this.tell("Fabric has another version: install the plugin that comes with it.");
        expected = answer(token, params);
        const about = { plugin: versions.plugin, application: host.name, version: host.version };
        const proof = { schema: params.schema, nonce: expected.nonce, proof: expected.proof, ...about };
        socket.send(JSON.stringify({ jsonrpc: "2.0", method: "session.proof", params: proof }));
      } else if (expected !== null && method === "session.open" && isOpening(params, expected)) {
        // An answer that nobody can hear any more is dropped: the other side records that nobody knows.
        session = new Session(expected.session, (text) => { if (open) socket.send(text); });
        this.wait = FIRST_WAIT;
        this.tell("Connected.");
      } else {
        this.tell("What listens there is not the Fabric that this plugin is paired with.");
        socket.close(4400, "not paired");
      }
    };
    socket.onclose = (event) => {
      open = false;
      this.ended(token, socket, session, event.code);
    };
    socket.onerror = () => undefined; // a close follows
  }

  private ended(token: string, socket: WebSocket, session: Session | null, code: number | undefined): void {
    if (session !== null) {
      // Once what runs has ended: nobody waits for it any more, and our duplicates go, unsaved.
      session.settled().then(abandon).catch(() => { this.tell("A duplicate could not be closed: close it by hand, unsaved."); });
    }
    if (!this.wanted || this.socket !== socket) return;
    if (code === 4401) this.tell("The token is not the one that Fabric shows: pair again.");
    else if (code === 4426) this.tell("Fabric has another version: install the plugin that comes with it.");
    else this.tell("Waiting for Fabric.");
    this.timer = setTimeout(() => { this.dial(token); }, this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }
}

function handshakeFrame(text: string): [unknown, unknown] {
  try {
    const { method, params } = JSON.parse(text) as { method?: unknown; params?: unknown };
    return [method, params];
  } catch {
    return [null, null];
  }
}

function isOpening(value: unknown, expected: Expected): boolean {
  const { session, signature } = (value ?? {}) as { session?: unknown; signature?: unknown };
  return typeof signature === "string" && same(signature, expected.signature) && session === expected.session;
}
