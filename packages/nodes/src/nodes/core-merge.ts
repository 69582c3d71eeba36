import { type JsonObject, type JsonValue, Meter, setOwn, success, type Work } from '@millrace/engine';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';

export const coreMerge = checkedNode({
  type: 'core.merge',
  title: 'Merge branches',
  description:
    'Joins branches: combines the outputs of the preceding nodes once each of them has finished or been skipped.',
  icon: 'merge',
  kind: 'pure',
  properties: {
    mode: choice(
      'Mode',
      'Separate: an object with each output under its node ID. Combined: the fields of all outputs in one object; later edges win. Only the first: the output of the first edge that was taken, in the order of the edges.',
      { all: 'Keep them separate', combine: 'Combine the fields', first: 'Only the first' },
      { default: 'all' },
    ),
  },
  form: { main: ['mode'] },
  synonyms: ['join', 'combine', 'wait for all', 'sync'],
  examples: [
    {
      title: 'Keep the outputs separate',
      config: {},
      inputs: { customer: { name: 'Ada' }, order: { id: 17 } },
      expect: { output: { customer: { name: 'Ada' }, order: { id: 17 } } },
    },
    {
      title: 'Combine the fields',
      config: { mode: 'combine' },
      inputs: { customer: { name: 'Ada', id: 1 }, order: { id: 17 } },
      expect: { output: { name: 'Ada', id: 17 } },
    },
    {
      title: 'Whichever branch was taken',
      config: { mode: 'first' },
      inputs: { express: { carrier: 'fast' } },
      expect: { output: { carrier: 'fast' } },
    },
  ],
  *run(config, context) {
    // fromEntries defines members; assigning would let a member named __proto__ change the object instead.
    const outputs = context.inputOrder.map((id): [string, JsonObject] => [id, context.inputs[id] ?? {}]);
    switch (config.mode) {
      case 'all':
        return success(Object.fromEntries(outputs));
      case 'combine':
        return success(yield* combined(outputs.map(([, output]) => output)));
      case 'first':
        return success(outputs[0]?.[1] ?? {});
    }
  },
});

/** The members of all outputs; later ones win. */
function* combined(outputs: readonly JsonObject[]): Work<JsonObject> {
  const meter = new Meter();
  const members: { [name: string]: JsonValue } = {};
  for (const output of outputs) {
    for (const name of Object.keys(output)) {
      setOwn(members, name, output[name] ?? null);
      meter.spend(1);
      if (meter.isDue) yield meter.take();
    }
  }
  return members;
}
