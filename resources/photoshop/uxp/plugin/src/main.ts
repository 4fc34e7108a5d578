// The panel: a field for the pairing token, two buttons and one line that says how things stand.
import { entrypoints, storage } from "uxp";

import { isToken } from "./handshake";
import { Link } from "./link";

const KEY = "fabric-pairing-token";

let line: PanelNode | null = null;
let said = "Not paired.";

function tell(text: string): void {
  said = text;
  if (line !== null) line.textContent = text;
}

const link = new Link(tell);

async function begin(): Promise<void> {
  const kept = await storage.secureStorage.getItem(KEY);
  const token = kept === null ? "" : Array.from(kept, (byte) => String.fromCharCode(byte)).join("");
  if (isToken(token)) link.start(token);
  else tell("Run `fabric photoshop pair` and paste the token.");
}

async function pair(token: string): Promise<void> {
  if (!isToken(token)) {
    tell("That is no token of Fabric's: 64 digits from 0 to f.");
    return;
  }
  await storage.secureStorage.setItem(KEY, token);
  link.start(token);
}

async function forget(): Promise<void> {
  link.stop();
  await storage.secureStorage.removeItem(KEY);
  tell("Not paired.");
}

function button(text: string, work: () => Promise<void>): PanelNode {
  const node = document.createElement("sp-button");
  node.textContent = text;
  node.addEventListener("click", () => {
    work().catch(() => { tell("The token could not be stored by Photoshop."); });
  });
  return node;
}

function draw(root: PanelNode): void {
  const field = document.createElement("sp-textfield");
  field.setAttribute("type", "password");
  field.setAttribute("placeholder", "Pairing token");
  root.appendChild(field);
  root.appendChild(
    button("Pair", async () => {
      const token = field.value.trim();
      field.value = "";
      await pair(token);
    }),
  );
  root.appendChild(button("Forget", forget));
  line = document.createElement("p");
  line.textContent = said;
  root.appendChild(line);
}

entrypoints.setup({
  plugin: {
    create: () => {
      begin().catch(() => { tell("The stored token could not be read."); });
    },
  },
  panels: { fabric: { create: draw } },
});
