import type { JsonObject, JsonValue } from '@millrace/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runImported } from './imported-run.ts';
import { type OriginalLink, type OriginalNode, originalOf } from './n8n-original.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const dataTableId = { __rl: true, mode: 'list', value: 'N2xX', cachedResultName: 'Leads' };
const columns = (value: JsonObject) => ({ columns: { mappingMode: 'defineBelow', value, schema: [] } });
const filters = (...conditions: readonly JsonObject[]) => ({ filters: { conditions } });

/** Runs one operation of n8n's data tables for each of the items, and returns what comes out of it. */
async function run(parameters: JsonObject, items: readonly JsonObject[] = [{}]): Promise<JsonValue> {
  const jsCode = `return ${JSON.stringify(items.map((json) => ({ json })))};`;
  const nodes: OriginalNode[] = [
    ['Start', 'manualTrigger', {}],
    ['Items', 'code', { jsCode }],
    ['Table', 'dataTable', { dataTableId, ...parameters }],
    ['All', 'aggregate', { aggregate: 'aggregateAllItemData', destinationFieldName: 'rows' }],
  ];
  const links: OriginalLink[] = ['Start > Items', 'Items > Table', 'Table > All'];
  const versions = { code: 2, dataTable: 1, aggregate: 1 };
  const execution = await runImported(world, originalOf('Tables', versions, nodes, links));
  const ends = Object.values(execution.node_outputs as { [id: string]: { output?: JsonObject } });
  return ends.flatMap(({ output }) => (output?.rows === undefined ? [] : [output.rows]))[0] ?? [];
}

const ROW = { createdAt: expect.any(String), updatedAt: expect.any(String) };

it("rows of n8n's data tables are inserted, found, updated and deleted as there", async () => {
  const person = { name: '={{ $json.name }}', age: '={{ $json.age }}' };
  const people = [
    { name: 'Ada', age: 36 },
    { name: 'Grace', age: 85 },
    { name: 'Alan', age: 41 },
  ];
  const insert = { operation: 'insert', ...columns(person) };
  const all = people.map((each, index) => ({ id: index + 1, ...each, ...ROW }));
  expect(await run(insert, people)).toEqual(all);
  expect(await run({ operation: 'get', returnAll: true })).toEqual(all);

  const old = filters({ keyName: 'age', condition: 'gt', keyValue: '40' });
  expect(await run({ operation: 'get', ...old })).toEqual(all.slice(1));
  const both = filters(
    { keyName: 'age', condition: 'gt', keyValue: '={{ 40 }}' },
    { keyName: 'name', condition: 'ilike', keyValue: 'a%' },
  );
  expect(await run({ operation: 'get', matchType: 'allConditions', ...both })).toEqual([all[2]]);
  expect(await run({ operation: 'get', matchType: 'anyCondition', ...both, limit: 2 })).toEqual(
    all.slice(0, 2),
  );

  const update = {
    operation: 'update',
    ...filters({ keyName: 'id', keyValue: '2' }),
    ...columns({ age: 86 }),
  };
  expect(await run(update)).toEqual([{ ...all[1], age: 86 }]);
  const named = (name: string) => filters({ keyName: 'name', condition: 'eq', keyValue: name });
  const upsert = {
    operation: 'upsert',
    ...filters({ keyName: 'name', keyValue: '={{ $json.name }}' }),
    ...columns(person),
  };
  const upserted = await run(upsert, [
    { name: 'Ada', age: 37 },
    { name: 'Kurt', age: 71 },
  ]);
  expect(upserted).toEqual([
    { ...all[0], age: 37 },
    { id: expect.any(Number), name: 'Kurt', age: 71, ...ROW },
  ]);
  // Whoever isn't there lets nothing through.
  expect(await run({ operation: 'rowExists', ...named('Nobody') })).toEqual([]);
  expect(await run({ operation: 'rowNotExists', ...named('Nobody') }, [{ a: 1 }])).toEqual([{ a: 1 }]);

  expect(await run({ operation: 'deleteRows', ...named('Alan') })).toEqual([all[2]]);
  const left = (await run({ operation: 'get', returnAll: true })) as JsonObject[];
  expect(left.map(({ name }) => name)).toEqual(['Ada', 'Grace', 'Kurt']);
});
