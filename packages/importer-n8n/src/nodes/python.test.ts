import { findProblems } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, START } from '../testing.ts';

function python(pythonCode: string, parameters: object = {}) {
  const code = { type: 'code', version: 2, parameters: { language: 'python', pythonCode, ...parameters } };
  return read(n8n({ Start: START, Code: code as never }, [['Start', 'Code']]));
}

describe("n8n's Python", () => {
  it('becomes Python of the Code node', () => {
    const result = python('for item in _items:\n\titem.json.x = 1\nreturn _items');
    const config = configOf(result, 'Code');
    expect(config).toMatchObject({ language: 'python' });
    expect(config?.code).toContain(
      'def _code():\n    for item in _items:\n        item.json.x = 1\n    return _items\n',
    );
    expect(findProblems(flowOf(result), registry)).toEqual([]);
  });

  it.each([
    ['import pandas as pd\nreturn []', 'pandas'],
    ['return _node["x"]', '_node'],
    ['return _("Other").all()', '_'],
    ['from js import fetch\nreturn []', 'js'],
  ])('is left out where only the original has what it needs: %s', (code, part) => {
    expect(JSON.stringify(outcomeOf(python(code), 'Code'))).toContain(JSON.stringify(part).slice(1, -1));
  });
});
