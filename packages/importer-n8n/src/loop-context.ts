import { isJsonArray, type JsonValue } from '@millrace/engine';
import { insideOf, isWithin, type Scope } from '@millrace/importer-kit/refs';
import type { Compiler } from './compiler.ts';
import { asText } from './read.ts';

/**
 * What n8n keeps with a Loop Over Items node, as a node in a scope reads it.
 * @param name the loop's
 * @returns the inside of a template; null if it can't be said
 */
export function aboutLoop(
  { compiler, scope }: { readonly compiler: Compiler; readonly scope: Scope },
  name: string,
  member: string,
): string | null {
  const loop = compiler.outs.get(name)?.find(({ ref }) => ref.scope.kind === 'batch')?.ref.scope;
  if (loop?.id == null) return null;
  const isInside = isWithin(scope, loop);
  const index = () => (scope === loop ? 'index' : compiler.builder.capture(loop).replace(/item$/, 'index'));
  if (member === 'currentRunIndex') return isInside ? index() : null;
  if (member !== 'noItemsLeft') return null;
  if (!isInside) return 'true';
  const count = countOf(compiler.builder.config(loop.id)?.items ?? null);
  return count === null ? null : `(${index()} + 1 >= ${count})`;
}

/** How many rounds a loop has: of a list that is written out, or of one that a template is. */
function countOf(items: JsonValue): string | null {
  if (isJsonArray(items)) return String(items.length);
  const inside = insideOf(asText(items));
  return inside === null ? null : `(${inside} | length)`;
}
