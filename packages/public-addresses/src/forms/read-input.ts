import { type JsonObject, pointerTokens } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { faultsOfInput } from '@millrace/service/executions/startable';
import { type FieldFault, inputOfValues } from '@millrace/triggers';
import type { OpenForm } from './open-form.ts';

type ReadInput =
  | { readonly kind: 'input'; readonly input: JsonObject }
  | {
      readonly kind: 'refused';
      readonly faults: readonly FieldFault[];
      /** What isn't the fault of one field. */
      readonly problem: Message | null;
    };

/** The input that the values of a form are. Where the workflow's input schema made the fields, it also checks what was entered, as it does for the API. */
export async function readInput(
  { workflow, compiled, options: { ofSchema } }: OpenForm,
  values: JsonObject,
): Promise<ReadInput> {
  if (ofSchema === null) return { kind: 'input', input: { ...values } };
  const input = inputOfValues(ofSchema, values);
  const found = await faultsOfInput(compiled, input, workflow.organisationId, '');
  if (found.length === 0) return { kind: 'input', input };
  const faults = new Map<string, FieldFault>();
  let problem: Message | null = null;
  for (const { pointer, message: fault } of found) {
    const [name = ''] = pointerTokens(pointer);
    if (!ofSchema.members.has(name)) problem ??= faultOfAll(pointer, fault);
    else if (!faults.has(name)) faults.set(name, { name, message: message('form.unfit', { fault }) });
  }
  return { kind: 'refused', faults: [...faults.values()], problem };
}

/** Whoever made the form has to know it: nothing that was entered in one field is wrong. */
function faultOfAll(pointer: string, fault: Message): Message {
  const reason =
    pointer === ''
      ? message('form.unfit_input', { fault })
      : message('form.unfit_json', { at: pointer, fault });
  return message('form.refused', { reason });
}
