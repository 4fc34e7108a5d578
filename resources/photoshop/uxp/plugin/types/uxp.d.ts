// The few declarations of UXP that this plugin uses, written from Adobe's reference pages: the published
// type packages lack the three calls by URL and token, or clash with the DOM library.

declare module "uxp" {
  interface Entry {
    readonly isFile: boolean;
    readonly isFolder: boolean;
    readonly name: string;
    readonly nativePath: string;
    delete(): Promise<void>;
  }

  interface Storage {
    readonly localFileSystem: {
      getEntryWithUrl(url: string): Promise<Entry>;
      createEntryWithUrl(url: string, options?: { type?: symbol; overwrite?: boolean }): Promise<Entry>;
      createSessionToken(entry: Entry): string;
    };
    readonly secureStorage: {
      getItem(key: string): Promise<Uint8Array | null>;
      setItem(key: string, value: string): Promise<void>;
      removeItem(key: string): Promise<void>;
    };
  }

  interface Panel {
    show?(root: PanelNode): void;
    create?(root: PanelNode): void;
  }

  export const storage: Storage;
  export const entrypoints: {
    setup(points: { plugin?: { create?(): void; destroy?(): void }; panels?: Record<string, Panel> }): void;
  };
  export const host: { readonly name: string; readonly version: string };
  export const versions: { readonly uxp: string; readonly plugin: string };
}

/** What `app.open` and `saveAs` take: the global name that the types of Photoshop use for a UXP file entry. */
declare type File = import("uxp").Entry;

/** Likewise the name under which a few of those types mean Photoshop's own document. */
declare type Document = import("photoshop/dom/Document").Document;

/** The part of an element that the panel needs. */
interface PanelNode {
  textContent: string;
  value: string;
  className: string;
  setAttribute(name: string, value: string): void;
  appendChild(child: PanelNode): PanelNode;
  addEventListener(type: "click", listener: () => void): void;
}

declare const document: { createElement(name: string): PanelNode };

interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
}

declare class WebSocket {
  constructor(address: string);
  onopen: (() => void) | null;
  onmessage: ((event: SocketEvent) => void) | null;
  onclose: ((event: SocketEvent) => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

declare function setTimeout(work: () => void, milliseconds: number): number;
declare function clearTimeout(timer: number): void;
