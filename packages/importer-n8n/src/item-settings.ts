import type { JsonValue } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Out } from './compiler.ts';
import type { Step } from './step.ts';

/** What stands for the items of a node that failed, or found nothing, if its settings in n8n say so. */
export function withItemSettings(step: Step, outs: readonly Out[], isRouter: boolean): readonly Out[] {
  const { node, mainId } = step;
  const isNeverEmpty = node.raw.alwaysOutputData === true;
  const goesOn = step.extras.on_error === 'continue' && mainId !== null;
  if (!isNeverEmpty && !goesOn) return outs;
  const [out, ...others] = outs;
  if (out === undefined) return outs;
  const isMany = out.ref.kind === 'many';
  if (isRouter || others.length > 0 || step.scope.kind === 'items') {
    // n8n counts the items of all rounds, here each round has its own.
    if (isNeverEmpty && (isMany || isRouter)) step.approximate(message('import.empty_item_left_out'));
    if (!goesOn || isRouter || others.length > 0) return outs;
  }
  const error = goesOn ? { error: template(`nodes.${mainId}.output.error`) } : {};
  const failed = goesOn ? ['if (input.error != null) return FAILED;'] : [];
  if (isMany) {
    const items = isNeverEmpty && step.scope.kind !== 'items' ? 'items.length === 0 ? [{}] : items' : 'items';
    const lines = [...failed, 'const items = input.items ?? [];', `return ${items};`];
    const id = add(step, lines, `[${FAILURES[node.kind] ?? FAILURE}]`, {
      items: step.compiler.listIn(out.ref, step.scope),
      ...error,
    });
    const made = step.many(`nodes.${id}.output.result`);
    const { each } = out.ref;
    return [each === undefined ? made : { ...made, ref: { ...made.ref, each } }];
  }
  if (!goesOn || out.ref.files !== undefined || !readsError(step)) return outs;
  const id = add(step, [...failed, 'return input.item;'], FAILURES[node.kind] ?? FAILURE, {
    item: step.compiler.wholeIn(out.ref, step.scope),
    ...error,
  });
  const { perhapsMany } = out.ref;
  const made = step.one(`nodes.${id}.output.result`);
  return [perhapsMany === undefined ? made : { ...made, ref: { ...made.ref, perhapsMany } }];
}

/** What n8n passes on in place of what failed. */
const FAILURE = '{ error: input.error.message }';
const FAILURES: { readonly [kind: string]: string | undefined } = { httpRequest: '{ error: input.error }' };

function add(
  step: Step,
  lines: readonly string[],
  failed: string,
  input: { readonly [name: string]: JsonValue },
): string {
  const code = lines.join('\n').replace('FAILED', failed);
  return step.add('core.code', { code, input: { ...input } }, { suffix: 'items' });
}

function readsError({ compiler, node }: Step): boolean {
  return compiler.reads.of(node.name).some((rest) => READS_ERROR.test(rest));
}

const READS_ERROR =
  /^(?:\??\.(?:item|first\(\)|last\(\)|all\(\)))?(?:\??\.json)?\??(?:\.error\b|\[(?:\\"|')error\b)/;
