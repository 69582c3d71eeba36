import type { Ref } from '@millrace/importer-kit/refs';
import type { Compiler, Out } from '../compiler.ts';
import type { N8nNode } from '../read.ts';

/**
 * Makes an output for each of some values that what started the execution may have: branches of a Switch, as far as nodes follow.
 * @param label of the Switch
 * @param left the template that has the value
 */
export function branchesBy(
  compiler: Compiler,
  node: N8nNode,
  given: { readonly label: string; readonly left: string; readonly values: readonly string[] },
  { exit, ref }: { readonly exit: Out['exit']; readonly ref: Ref },
): readonly Out[] {
  const { label, left, values } = given;
  const used = usedOutputs(compiler, node);
  const followed = values.filter((_value, output) => used.has(output));
  if (followed.length === 0) return [{ exit, ref }];
  const cases = [...new Set(followed)].map((name) => ({
    name,
    conditions: [{ left, operator: 'equals', right: name }],
  }));
  const id = compiler.add(node, {
    type: 'core.switch',
    label: `${node.name}: ${label}`,
    config: { cases },
    scope: ref.scope,
    after: [exit],
  });
  return values.map((handle) => ({ exit: { id, handle }, ref }));
}

/** The outputs of a node that lead somewhere. */
export function usedOutputs(compiler: Compiler, { name }: N8nNode): ReadonlySet<number> {
  return new Set(compiler.started.links.filter(({ from }) => from === name).map(({ output }) => output));
}
