// The named read-only inspections: they change nothing, and may be asked while a request is uncertain.
import { app, core } from "photoshop";
import { host, versions } from "uxp";

import type { Host, OpenDocuments } from "./generated/protocol";
import { isOurs } from "./partition";

export function inspectHost(): Host {
  return {
    application: host.name.slice(0, 256),
    version: host.version.slice(0, 64),
    plugin: versions.plugin.slice(0, 64),
    documents: app.documents.length,
    modal: core.isModal(),
    fonts: app.fonts.length,
  };
}

export function inspectDocuments(): OpenDocuments {
  return {
    documents: Array.from(app.documents, (item) => ({
      id: item.id,
      name: item.name.slice(0, 256),
      ours: isOurs(item.id),
      saved: item.saved,
    })),
  };
}
