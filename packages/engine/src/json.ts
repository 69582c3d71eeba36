/**
 * A JSON number that a double cannot hold (2^53+1, 1e400): kept as its source text, written back unchanged.
 * Made by `JSON.rawJSON` (ECMAScript, JSON.parse source text access).
 */
export interface RawJsonNumber {
  readonly rawJSON: string;
}

/** Any value JSON can say, without loss. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | RawJsonNumber
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };
