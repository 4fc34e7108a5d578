// Generated from the Pydantic contracts by `python -m resources.photoshop.uxp.schema`. Not edited.

export const PROTOCOL = "fabric.photoshop-uxp.v1";
export const PORT = 47823;
export const MOST_BYTES = 1048576;
export const SCHEMA_DIGEST = "sha256:8b126743c07bd9824fe0e7a30c610d6178bd6c97c26a9eb4562bc1d882f89ff2";

export interface ApplyLayerComp { readonly "comp": string | number; }

export interface Begin { readonly "partition": string; readonly "folder": string; readonly "sources"?: Readonly<Record<string, string>>; }

export interface Comp { readonly "comp": string; readonly "id": number; }

export interface ExportPng { readonly "preset"?: string | ExportPreset; readonly "out": string; readonly "layer"?: LayerAddress | null; }

export interface ExportPreset { readonly "area"?: "canvas" | "content" | "artboard"; readonly "longest"?: number | null; readonly "width"?: number | null; readonly "height"?: number | null; readonly "percent"?: number | null; readonly "padding"?: number; readonly "multiple"?: number; readonly "power_of_two"?: boolean; readonly "depth"?: 8 | 16 | "document"; readonly "profile"?: "srgb" | "embed"; readonly "broken_profile"?: "refuse" | "srgb"; }

export interface Exported { readonly "width": number; readonly "height": number; readonly "left": number; readonly "top": number; }

export interface Host { readonly "application": string; readonly "version": string; readonly "plugin": string; readonly "documents": number; readonly "modal": boolean; readonly "fonts": number; }

export interface Layer { readonly "layer": string; readonly "id": number; readonly "was": number; }

export interface LayerAddress { readonly "path"?: string | null; readonly "id"?: number | null; }

export interface MoveLayer { readonly "layer": LayerAddress; readonly "dx"?: number | null; readonly "dy"?: number | null; readonly "left"?: number | null; readonly "top"?: number | null; }

export interface Named { readonly "partition": string; }

export interface Nothing { readonly [none: string]: never }

export interface OpenDocument { readonly "id": number; readonly "name": string; readonly "ours": boolean; readonly "saved": boolean; }

export interface OpenDocuments { readonly "documents": readonly (OpenDocument)[]; }

export interface OpenDuplicate { readonly "source": string; readonly "copy": string; readonly "digest"?: string | null; readonly "roles"?: Readonly<Record<string, LayerAddress>> | null; }

export interface Opened { readonly "width": number; readonly "height": number; }

export interface Remembered { readonly "identity": string; readonly "method": string; readonly "state": string; }

export interface RememberedRequests { readonly "requests": readonly (Remembered)[]; }

export interface ReplaceSmartObject { readonly "layer": LayerAddress; readonly "contents": string; readonly "scope"?: "layer" | "shared"; readonly "unproven"?: "refuse" | "allow"; }

export interface Saved { readonly "saved": readonly (string)[]; }

export interface SetText { readonly "layer": LayerAddress; readonly "text": string; readonly "overflow"?: "refuse" | "cut"; }

export interface SetVisibility { readonly "layer": LayerAddress; readonly "visible": boolean; }

export interface Methods {
  readonly "photoshop.open_duplicate@1": { readonly arguments: OpenDuplicate; readonly result: Opened };
  readonly "photoshop.replace_smart_object@1": { readonly arguments: ReplaceSmartObject; readonly result: Layer };
  readonly "photoshop.set_visibility@1": { readonly arguments: SetVisibility; readonly result: Layer };
  readonly "photoshop.set_text@1": { readonly arguments: SetText; readonly result: Layer };
  readonly "photoshop.move_layer@1": { readonly arguments: MoveLayer; readonly result: Layer };
  readonly "photoshop.apply_layer_comp@1": { readonly arguments: ApplyLayerComp; readonly result: Comp };
  readonly "photoshop.export_png@1": { readonly arguments: ExportPng; readonly result: Exported };
  readonly "partition.begin": { readonly arguments: Begin; readonly result: Nothing };
  readonly "partition.finish": { readonly arguments: Named; readonly result: Saved };
  readonly "partition.abandon": { readonly arguments: Named; readonly result: Nothing };
  readonly "inspect.host": { readonly arguments: Nothing; readonly result: Host };
  readonly "inspect.documents": { readonly arguments: Nothing; readonly result: OpenDocuments };
  readonly "inspect.requests": { readonly arguments: Nothing; readonly result: RememberedRequests };
}

export type MethodName = keyof Methods;

export type FailureCode =
  | "capability_unavailable"
  | "photoshop.busy"
  | "photoshop.cancelled"
  | "photoshop.comp_ambiguous"
  | "photoshop.comp_not_found"
  | "photoshop.contents_format"
  | "photoshop.file_unavailable"
  | "photoshop.font_missing"
  | "photoshop.host_failed"
  | "photoshop.layer_ambiguous"
  | "photoshop.layer_kind"
  | "photoshop.layer_locked"
  | "photoshop.layer_not_found"
  | "photoshop.linked_object"
  | "photoshop.no_document"
  | "photoshop.not_a_smart_object"
  | "photoshop.nothing_visible"
  | "photoshop.output_twice"
  | "photoshop.profile_unsupported"
  | "photoshop.quad_unsupported"
  | "photoshop.request_refused"
  | "photoshop.save_failed"
  | "photoshop.smart_filters";
