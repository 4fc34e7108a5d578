// One sealed partition: what may be read, where may be written, and the duplicates that are ours to close.
import { app } from "photoshop";
import type { Document } from "photoshop/dom/Document";
import { storage } from "uxp";
import type { Entry } from "uxp";

import { OperationFailure } from "./failure";
import type { Begin } from "./generated/protocol";
import { modal } from "./host";

interface Copy {
  readonly path: string;
  readonly id: number;
}

interface Partition {
  readonly name: string;
  readonly folder: string;
  readonly sources: ReadonlyMap<string, string>;
  readonly copies: Copy[];
  readonly outputs: Set<string>;
}

let current: Partition | null = null;

/** Begin a partition; what an older one left open is closed without saving. */
export async function begin(args: Begin): Promise<void> {
  await abandon();
  current = {
    name: args.partition,
    folder: args.folder.replace(/\/+$/, ""),
    sources: new Map(Object.entries(args.sources ?? {})),
    copies: [],
    outputs: new Set(),
  };
}

/** The partition that is worked on, by its name where one is given. */
export function partition(name?: string): Partition {
  if (current === null || (name !== undefined && name !== current.name)) {
    throw new OperationFailure("photoshop.request_refused", "no such partition was begun");
  }
  return current;
}

export function isOurs(documentID: number): boolean {
  return current?.copies.some((copy) => copy.id === documentID) ?? false;
}

/** The duplicate that was opened last. */
export function document(): Document {
  const last = partition().copies.slice(-1)[0];
  if (last === undefined) throw new OperationFailure("photoshop.no_document", "an operation comes before any document is open");
  return byId(last.id);
}

export function byId(id: number): Document {
  const found = Array.from(app.documents).find((item) => item.id === id);
  if (found === undefined) throw new OperationFailure("photoshop.host_failed", "somebody closed the duplicate in Photoshop");
  return found;
}

/** A file that the plan reads, by the path that the plan calls it. */
export async function source(planPath: string): Promise<Entry> {
  const path = partition().sources.get(planPath);
  if (path === undefined) throw new OperationFailure("photoshop.request_refused", "the plan has no such input", planPath);
  try {
    const entry = await byUrl(path);
    if (entry.isFile) return entry;
  } catch {
    // Told below: UXP's own words for a missing file differ from version to version.
  }
  throw new OperationFailure("photoshop.file_unavailable", "an input cannot be read", planPath, "check the path and its permissions");
}

/** Claim a result's path: plain, relative, under the partition's folder, used once. */
export function claim(path: string): void {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\:*?"<>|\p{Cc}]/u.test(part))) {
    throw new OperationFailure("photoshop.request_refused", "a result's path is not plain and relative", path);
  }
  const key = path.normalize("NFC").toLowerCase();
  if (partition().outputs.has(key)) throw new OperationFailure("photoshop.output_twice", "this file is written twice", path);
  partition().outputs.add(key);
}

/** Make the file of a claimed path; never one that exists. */
export async function target(path: string): Promise<Entry> {
  const whole = `${partition().folder}/${path}`;
  try {
    return await storage.localFileSystem.createEntryWithUrl(url(whole), { overwrite: false });
  } catch {
    throw new OperationFailure("photoshop.save_failed", "a result's file cannot be made", path);
  }
}

/** Take back a file that a save left incomplete; whether nothing of it is left. */
export async function discard(entry: Entry): Promise<boolean> {
  try {
    await entry.delete();
    return true;
  } catch {
    return false;
  }
}

/** Whether a claimed path is a file now. */
export async function isThere(path: string): Promise<boolean> {
  try {
    return (await byUrl(`${partition().folder}/${path}`)).isFile;
  } catch {
    return false;
  }
}

async function byUrl(path: string): Promise<Entry> {
  return storage.localFileSystem.getEntryWithUrl(url(path));
}

function url(path: string): string {
  return `file:${path.startsWith("/") ? "" : "/"}${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`;
}

/** Close all of our duplicates without saving and end the partition. */
export async function abandon(): Promise<void> {
  const ended = current;
  if (ended !== null && ended.copies.length > 0) {
    await modal("Fabric: close duplicates", null, () => {
      for (const copy of ended.copies) {
        Array.from(app.documents).find((item) => item.id === copy.id)?.closeWithoutSaving();
      }
      return Promise.resolve();
    });
  }
  current = null;
}
