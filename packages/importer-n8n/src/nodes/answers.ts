import { firstOf, memberPath, TOP, template } from '@millrace/importer-kit/refs';
import type { Compiler, Out } from '../compiler.ts';
import type { Triggered } from './triggers.ts';

/** Answers the caller when the execution has ended, from the nodes that ended it. */
export function answerWith(compiler: Compiler, { id, answer }: Triggered): void {
  const config = compiler.builder.config(id);
  if (config === undefined || answer === 'none' || answer === 'respond_node') return;
  const ends = endsOf(compiler);
  const isChat = answer === 'chat' || answer === 'chat_page';
  const member = isChat ? ['output'] : [];
  const paths = ends.map(({ ref }) =>
    ref.kind === 'many' ? (ref.path.split(' | ')[0] ?? '') : (memberPath(ref, member) ?? ref.path),
  );
  if (paths.length === 0) return;
  const body = template(firstOf(paths));
  if (answer === 'chat_page') {
    config.answer = body;
    return;
  }
  config.response = { status: 200, body: answer === 'chat' ? { output: body } : body };
}

/** The outputs that nothing follows, where the whole workflow can read them. */
function endsOf(compiler: Compiler): readonly Out[] {
  const found: Out[] = [];
  const followed = new Set(compiler.started.links.map(({ from }) => from));
  for (const { name } of compiler.started.order) {
    const [out] = compiler.outs.get(name) ?? [];
    if (!followed.has(name) && out !== undefined && out.ref.scope === TOP && out.ref.owner !== null)
      found.push(out);
  }
  return found.slice(0, 15);
}
