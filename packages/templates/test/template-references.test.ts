import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listPaths, parseTemplate, parseTemplates } from '../src/template.ts';
import { listNodeReferences, renameNodeReferences, templateStep } from '../src/template-references.ts';

it('T4: all paths that are read are known, including those in arguments', () => {
  const { template } = parseTemplates({
    a: ['x{{vars.a}}{{vars.b | default: vars["c d"]}}'],
    b: '{{item}}',
  });
  expect(listPaths(template)).toEqual([
    { names: ['vars', 'a'], pointer: '/a/0' },
    { names: ['vars', 'b'], pointer: '/a/0' },
    { names: ['vars', 'c d'], pointer: '/a/0' },
    { names: ['item'], pointer: '/b' },
  ]);
});

describe('references to nodes', () => {
  const pathsOf = (text: string) => {
    const parsed = parseTemplate(text);
    return parsed.ok ? listPaths(parsed.template).map(({ names }) => names) : null;
  };
  const renaming = (name: string) => new Map([['fetch', name]]);

  it('are found in any notation', () => {
    const text =
      'Hi {{ nodes.a.output | default: nodes["b c"].x }} {{nodes[ \'d\' ]}} \\{{nodes.e}} {{x.nodes.f}}';
    const found = listNodeReferences(text);
    expect(found.map(({ nodeId }) => nodeId)).toEqual(['a', 'b c', 'd']);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(['.a', '["b c"]', "[ 'd' ]"]);
  });

  it('are found around a mistake, too', () => {
    expect(renameNodeReferences('{{nodes.fetch.x | nofilter}} {{nodes.fetch.y}}', renaming('get'))).toBe(
      '{{nodes.get.x | nofilter}} {{nodes.get.y}}',
    );
  });

  it('are renamed whatever the new id, and nothing else changes', () => {
    const step = fc.constantFrom('.fetch', "['fetch']", '["fetch"]', '[ "fetch" ]');
    fc.assert(
      fc.property(step, fc.string({ unit: 'binary', minLength: 1 }), fc.string(), (written, name, around) => {
        const text = `{{vars.a}}{{nodes${written}.output${templateStep(around)} | default: nodes.other.output}}`;
        const renamed = pathsOf(renameNodeReferences(text, renaming(name)));
        const before = pathsOf(text)?.map((names) =>
          names[1] === 'fetch' ? ['nodes', name, ...names.slice(2)] : names,
        );
        expect(renamed).toEqual(before);
      }),
      { numRuns: runs(500) },
    );
  });
});
