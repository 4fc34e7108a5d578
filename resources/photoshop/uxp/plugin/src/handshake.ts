// The plugin's half of the pairing (SCRAM-SHA-256 without iterations): the token never leaves this side.
import { PROTOCOL, SCHEMA_DIGEST } from "./generated/protocol";
import { ascii, hex, hmac, sha256, unhex } from "./sha256";

const TOKEN = /^[0-9a-f]{64}$/;
const NONCE = /^[0-9a-f]{64}$/;

export interface Challenge {
  readonly protocol: string;
  readonly schema: string;
  readonly nonce: string;
}

export interface Expected {
  readonly nonce: string;
  readonly proof: string;
  /** What the other side must answer with, and the session that follows from both nonces. */
  readonly signature: string;
  readonly session: string;
}

let drawn = 0;

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isChallenge(value: unknown): value is Challenge {
  const { protocol, schema, nonce } = (value ?? {}) as Partial<Record<keyof Challenge, unknown>>;
  return protocol === PROTOCOL && typeof schema === "string" && typeof nonce === "string" && NONCE.test(nonce);
}

/**
 * A nonce that nobody without the token can foresee, where UXP has no random numbers of its own: a keyed digest
 * over what never repeats.
 */
function nonce(token: Uint8Array): string {
  drawn += 1;
  return hex(hmac(token, ascii(`nonce ${Date.now()} ${drawn} ${Math.random()}`)));
}

/** Answer a challenge with `token` (64 hex digits). */
export function answer(token: string, challenge: Challenge): Expected {
  const key = unhex(token);
  const ours = nonce(key);
  const words = ascii([PROTOCOL, challenge.schema, challenge.nonce, ours].join("\n"));
  const client = hmac(key, ascii("Client Key"));
  const mask = hmac(sha256(client), words);
  const proof = hex(client.map((byte, i) => byte ^ (mask[i] ?? 0)));
  const session = hex(sha256(Uint8Array.from([...words, ...ascii(`\n${proof}`)]))).slice(0, 32);
  return { nonce: ours, proof, session, signature: hex(hmac(hmac(key, ascii("Server Key")), words)) };
}

/** Whether the other side speaks the very schema that this plugin was built from. */
export function sameSchema(challenge: Challenge): boolean {
  return challenge.schema === SCHEMA_DIGEST;
}

/** Compare in a time that does not depend on where they differ. */
export function same(first: string, second: string): boolean {
  let difference = first.length ^ second.length;
  for (let i = 0; i < first.length; i += 1) difference |= first.charCodeAt(i) ^ second.charCodeAt(i % (second.length || 1));
  return difference === 0;
}
