import { operand } from '@millrace/importer-kit/refs';
import { arrayOf, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Made, Make } from '../../direct/maker.ts';
import { constantIn } from '../values.ts';

/** A node with the retries and the behaviour after an error that are set for it. */
export function withError(make: (step: DirectStep) => Made): Make {
  return (step) => {
    const { data } = step;
    const retry = objectOf(data.retry_config);
    const [times, wait] = [Number(retry.max_retries ?? 3), Number(retry.retry_interval ?? 1000)];
    const strategy = textOf(data.error_strategy);
    step.extras = {
      ...(retry.retry_enabled === true
        ? { retry: { max_attempts: within(times + 1, 1, 20), backoff_ms: within(wait, 0, 86_400_000) } }
        : {}),
      ...(strategy === 'fail-branch' ? { on_error: 'branch' as const } : {}),
      ...(strategy === 'default-value' ? { on_error: 'continue' as const } : {}),
    };
    const made = make(step);
    if (strategy === 'fail-branch') return withBranch(step, made);
    return strategy === 'default-value' ? withDefaults(step, made) : made;
  };
}

function within(value: number, least: number, most: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(Math.round(value), least), most) : least;
}

function withBranch(step: DirectStep, made: Made): Made {
  const main = step.mainId;
  if (main === null) return made;
  return {
    ...made,
    exits: { ...made.exits, 'success-branch': made.exit, 'fail-branch': { id: main, handle: 'error' } },
    read: (names, reader) => {
      const [name] = names;
      if (name === 'error_message') return `nodes.${main}.output.error.message`;
      return name === 'error_type' ? `nodes.${main}.output.error.code` : made.read(names, reader);
    },
  };
}

function withDefaults(step: DirectStep, made: Made): Made {
  const defaults = new Map<string, string>();
  for (const each of arrayOf(step.data.default_value).map(objectOf)) {
    const key = textOf(each.key);
    const value = constantIn(each.value ?? null);
    if (key !== null && value !== null) defaults.set(key, value);
    else step.approximate(message('import.member_missing', { member: key ?? 'default_value' }));
  }
  return {
    ...made,
    read: (names, reader) => {
      const path = made.read(names, reader);
      const [name = ''] = names;
      const value = names.length === 1 ? defaults.get(name) : undefined;
      if (path === null || value === undefined) return path;
      // A node that was skipped has no output at all.
      return `nodes.${step.mainId ?? ''}.output.error == null ? ${operand(path)} : ${value}`;
    },
  };
}
