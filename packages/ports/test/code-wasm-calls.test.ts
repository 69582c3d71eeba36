import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile, instantiate, type WasmInstance } from '../src/code/wasm.ts';

/**
 * Exports `r`, which calls its import `m.f` as often as its parameter says:
 * `(module (import "m" "f" (func $f)) (func (export "r") (param i32) (loop (call $f) (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))`
 */
const CALLER = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x02, 0x60, 0x00, 0x00, 0x60, 0x01, 0x7f, 0x00],
  ...[0x02, 0x07, 0x01, 0x01, 0x6d, 0x01, 0x66, 0x00, 0x00],
  ...[0x03, 0x02, 0x01, 0x01],
  ...[0x07, 0x05, 0x01, 0x01, 0x72, 0x00, 0x01],
  ...[
    0x0a, 0x12, 0x01, 0x10, 0x00, 0x03, 0x40, 0x10, 0x00, 0x20, 0x00, 0x41, 0x01, 0x6b, 0x22, 0x00, 0x0d,
    0x00, 0x0b, 0x0b,
  ],
]);

test('calls from WebAssembly keep their generic code, however many there are', async () => {
  // As in a process that didn't get it on its command line, as this one did.
  setFlagsFromString('--wasm-wrapper-tiering-budget=1000');
  const again = '../src/code/pool.ts?again';
  await import(again);
  setFlagsFromString('--allow-natives-syntax');
  const countGeneric = runInThisContext('(instance) => %CountUnoptimizedWasmToJSWrapper(instance)') as (
    instance: WasmInstance,
  ) => number;
  let calls = 0;
  const instance = await instantiate(await compile(CALLER), {
    m: {
      f: () => {
        calls += 1;
      },
    },
  });
  const { r } = instance.exports as { readonly r: (times: number) => void };
  r(5_000);
  expect(calls).toBe(5_000);
  // Compiled when it is called, by the same syntax.
  const generic = countGeneric(instance);
  setFlagsFromString('--no-allow-natives-syntax');
  expect(generic).toBe(1);
});
