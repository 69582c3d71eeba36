/** The part of WebAssembly used here: only browser typings include its types. */
interface WasmNamespace {
  readonly compile: (bytes: Uint8Array) => Promise<WasmModule>;
  readonly instantiate: (module: WasmModule, imports: object) => Promise<WasmInstance>;
  readonly Memory: new (size: {
    /** Pages of 64 KiB. */
    initial: number;
    maximum: number;
  }) => { readonly buffer: ArrayBuffer };
  /** Thrown on a trap. */
  readonly RuntimeError: new (
    message?: string,
  ) => Error;
}

/** Compiled code. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

declare const WebAssembly: WasmNamespace;

export const { compile, instantiate, Memory, RuntimeError } = WebAssembly;
