import { RenderLimitError } from '@millrace/engine';
import { expect, it } from 'vitest';
import { fillIn, TemplateBudget } from './templates.ts';

it('has one budget for all templates of a run', () => {
  const budget = new TemplateBudget();
  const items = Array.from({ length: 100_000 }, (_each, at) => at);
  const once = () => fillIn('{{args.items | reverse | length}}', { items }, budget);
  const rounds = () => {
    for (let round = 0; round < 100; round++) once();
  };
  expect(once()).toBe(100_000);
  expect(rounds).toThrow(RenderLimitError);
  expect(fillIn('{{args.items | length}}', { items }, new TemplateBudget())).toBe(100_000);
});

it('counts the texts that are made', () => {
  const budget = new TemplateBudget();
  const long = 'a'.repeat(1_000_000);
  const all = () =>
    fillIn(
      Array.from({ length: 70 }, (_each, at) => `${at} {{args.long}}`),
      { long },
      budget,
    );
  expect(all).toThrow(RenderLimitError);
});
