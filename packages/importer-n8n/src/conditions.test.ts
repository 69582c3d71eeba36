import { expect, it } from 'vitest';
import { configOf, n8n, read, START } from './testing.ts';

it('no conditions are met if all are asked for, and not met if one is', () => {
  const conditionsOf = (combinator: string) =>
    configOf(
      read(
        n8n(
          {
            Start: START,
            Here: { type: 'if', version: 2.2, parameters: { conditions: { conditions: [], combinator } } },
          },
          [['Start', 'Here']],
        ),
      ),
      'Here',
    );
  expect(conditionsOf('and')).toMatchObject({
    conditions: [{ left: true, operator: 'equals', right: true }],
  });
  expect(conditionsOf('or')).toMatchObject({
    conditions: [{ left: false, operator: 'equals', right: true }],
  });
});

it.each([
  ['number', 'less_than', 0],
  ['string', 'equals', ''],
  ['boolean', 'equals', false],
])('what a %s is compared with by default is not written down', (kind, operator, right) => {
  const parameters = { conditions: { [kind]: [{ value1: '={{ $json.a }}' }] } };
  const result = read(
    n8n({ Start: START, Here: { type: 'if', version: 1, parameters } }, [['Start', 'Here']]),
  );
  expect(configOf(result, 'Here')).toMatchObject({ conditions: [{ operator, right }] });
});
