// Arguments against the generated JSON Schema: the keywords that the generator lets through, and no others.
import protocol from "./generated/protocol.schema.json";
import type { MethodName } from "./generated/protocol";

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const DEFINITIONS = protocol.$defs as unknown as Readonly<Record<string, Schema>>;
const METHODS = protocol.methods as Readonly<Record<MethodName, { arguments: string; readOnly: boolean }>>;
const PREFIX = "#/$defs/";

export function isMethod(name: unknown): name is MethodName {
  return typeof name === "string" && Object.prototype.hasOwnProperty.call(METHODS, name);
}

export function isReadOnly(name: MethodName): boolean {
  return METHODS[name].readOnly;
}

/** Where `value` is not what `name` takes, or null. */
export function wrongArgument(name: MethodName, value: unknown): string | null {
  return wrong({ $ref: METHODS[name].arguments }, value, "arguments");
}

function wrong(schema: Schema, value: unknown, where: string): string | null {
  if (schema.$ref !== undefined) {
    const target = DEFINITIONS[schema.$ref.slice(PREFIX.length)];
    return target === undefined ? where : wrong(target, value, where);
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.some((option) => wrong(option, value, where) === null) ? null : where;
  }
  if ("const" in schema && value !== schema.const) return where;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return where;
  switch (schema.type) {
    case undefined:
      return null;
    case "null":
      return value === null ? null : where;
    case "boolean":
      return typeof value === "boolean" ? null : where;
    case "integer":
      return Number.isSafeInteger(value) && inRange(value as number, schema.minimum, schema.maximum) ? null : where;
    case "string":
      return typeof value === "string" && fits(value, schema) ? null : where;
    case "array":
      return wrongItem(schema, value, where);
    case "object":
      return wrongProperty(schema, value, where);
    default:
      return where;
  }
}

function inRange(value: number, least = -Infinity, most = Infinity): boolean {
  return least <= value && value <= most;
}

function fits(value: string, schema: Schema): boolean {
  // Lengths are counted in characters, as the generator's side counts them.
  const length = Array.from(value).length;
  return inRange(length, schema.minLength, schema.maxLength) && new RegExp(schema.pattern ?? "", "u").test(value);
}

function wrongItem(schema: Schema, value: unknown, where: string): string | null {
  if (!Array.isArray(value) || !inRange(value.length, schema.minItems, schema.maxItems)) return where;
  for (const [index, item] of value.entries()) {
    const found = schema.items && wrong(schema.items, item, `${where}[${index}]`);
    if (found) return found;
  }
  return null;
}

function wrongProperty(schema: Schema, value: unknown, where: string): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return where;
  for (const name of schema.required ?? []) {
    if (!Object.prototype.hasOwnProperty.call(value, name)) return `${where}.${name}`;
  }
  for (const [name, item] of Object.entries(value)) {
    // Own names alone: "constructor" is no property that anybody declared.
    const declared = Object.prototype.hasOwnProperty.call(schema.properties ?? {}, name);
    const known = declared ? schema.properties?.[name] : schema.additionalProperties;
    if (known === undefined || known === false) return `${where}.${name}`;
    const found = known === true ? null : wrong(known, item, `${where}.${name}`);
    if (found !== null) return found;
  }
  return null;
}
