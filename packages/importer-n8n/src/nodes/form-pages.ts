import type { JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Compiler, Out } from '../compiler.ts';
import { arrayOf, type N8nNode, objectOf } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';
import { passOn } from './core.ts';
import { fieldsOf, plainText } from './form.ts';

/**
 * A page of a form after its first one. Here a form is submitted as a whole: pages that nothing comes between become pages of the trigger's
 * form, and an ending whose texts are the same for everybody becomes what the form says.
 */
export function formPage(step: Step): readonly Out[] {
  return step.text('operation', 'page') === 'completion' ? ending(step) : nextPage(step);
}

function nextPage(step: Step): readonly Out[] {
  const config = formBefore(step.compiler, step.node);
  const given = arrayOf(step.raw('formFields.values'));
  const added = fieldsOf(given);
  const known = arrayOf(config?.fields).map(objectOf);
  const names = [...known, ...added].flatMap(({ name, type }) => (type === 'page' ? [] : [name]));
  const isPlain =
    step.text('defineForm', 'fields') === 'fields' &&
    !JSON.stringify(given).includes('"=') &&
    added.length > 0;
  // Files can be asked for on the last page only, and are read by where the trigger asks for them.
  const hasFile = [...known, ...added].some(({ type }) => type === 'file');
  if (config === null || !isPlain || hasFile || new Set(names).size < names.length)
    throw new Unmappable(message('import.form_page'));
  const label = plainText(step.raw('options.formTitle')) || step.node.name;
  config.fields = [...known, { label, name: '', type: 'page' }, ...added];
  step.approximate(message('import.form_page_added'));
  return passOn(step);
}

function ending(step: Step): readonly Out[] {
  const config = formBefore(step.compiler, step.node, true);
  const how = step.text('respondWith', 'text');
  const texts = [step.raw('completionTitle'), step.raw('completionMessage')].map((text) => text ?? '');
  const url = plainText(step.raw('redirectUrl'));
  const isPlain = texts.every((text) => text === '' || plainText(text) !== '');
  const isRedirect = how === 'redirect' && url.startsWith('https://');
  const isTaken =
    config !== null && (Object.hasOwn(config, 'thanks') || Object.hasOwn(config, 'redirect_url'));
  if (config === null || isTaken || !(isRedirect || (how === 'text' && isPlain))) {
    step.approximate(message('import.form_ending'));
    return passOn(step);
  }
  const thanks = texts.map(plainText).filter((text) => text !== '');
  if (isRedirect) config.redirect_url = url;
  else if (thanks.length > 0) config.thanks = thanks.join('\n\n');
  step.approximate(message('import.form_ending_moved'));
  return passOn(step);
}

/**
 * The settings of the form that a page goes on with; null if something else comes between.
 * @param isEnd whether other nodes may come between, as nothing of the form follows
 */
function formBefore(compiler: Compiler, node: N8nNode, isEnd = false): { [name: string]: JsonValue } | null {
  const { links, triggers } = compiler.started;
  const [trigger, ...others] = triggers;
  if (trigger?.kind !== 'formTrigger' || others.length > 0) return null;
  if (isEnd) {
    const { nodes } = compiler.workflow;
    const endings = [...nodes.values()].filter(
      ({ kind, parameters }) => kind === 'form' && parameters.operation === 'completion',
    );
    // Which of several is shown depends on what happens.
    if (endings.length > 1) return null;
  } else {
    let at = node.name;
    while (at !== trigger.name) {
      const before = links.filter(({ to }) => to === at);
      const [only] = before;
      if (
        only === undefined ||
        before.length > 1 ||
        links.filter(({ from }) => from === only.from).length > 1
      )
        return null;
      at = only.from;
      const { kind, parameters } = compiler.workflow.nodes.get(at) ?? trigger;
      if (at !== trigger.name && (kind !== 'form' || parameters.operation === 'completion')) return null;
    }
  }
  const [out] = compiler.outs.get(trigger.name) ?? [];
  return out === undefined ? null : (compiler.builder.config(out.exit.id) ?? null);
}
