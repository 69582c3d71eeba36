import { nearestName } from './nearest-name.ts';
import type { Variable } from './variable.ts';
import { VARIABLES } from './variables.ts';

type Name = keyof typeof VARIABLES;
type ValueOf<N extends Name> = (typeof VARIABLES)[N] extends Variable<infer T> ? T : never;

/** Reads variables from an environment and collects what is wrong with them. Empty variables count as not set. */
export class VariableReader {
  /** Unknown MILLRACE_ names, and whatever was found since. */
  readonly problems: string[];
  readonly #env: NodeJS.ProcessEnv;

  /** @param reserved a name beginning with MILLRACE_ that isn't a setting */
  constructor(env: NodeJS.ProcessEnv, reserved: string) {
    this.#env = env;
    this.problems = unknownNames(env, reserved);
  }

  isSet(name: Name): boolean {
    return textOf(this.#env, name) !== '';
  }

  /** Null: not set and without a default. */
  read<N extends Name>(name: N): ValueOf<N> | null {
    const variable: Variable<unknown> = VARIABLES[name];
    const given = textOf(this.#env, name);
    const fallback = variable.fallback === '' ? null : variable.parse(variable.fallback);
    if (given === '') return fallback as ValueOf<N> | null;
    const value = variable.parse(given);
    if (value === undefined) this.problems.push(describeProblem(name, given, variable));
    return (value ?? fallback) as ValueOf<N> | null;
  }

  /** For variables that have a default. */
  need<N extends Name>(name: N): ValueOf<N> {
    const value = this.read(name);
    if (value === null) throw new Error(`${name} has no default`);
    return value;
  }
}

/**
 * The variables that are set, with their values if these can't be secret. Nothing else of the environment.
 * @param problems of the configuration; what is wrong may be anything, such as a password in another variable
 */
export function describeVariables(
  problems: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly [name: string]: string } {
  const described: Record<string, string> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const given = textOf(env, name);
    if (given === '') continue;
    if (problems.some((problem) => problem.startsWith(name))) described[name] = '(set, not valid)';
    else described[name] = variable.secret === true ? '(set)' : given;
  }
  return described;
}

function textOf(env: NodeJS.ProcessEnv, name: string): string {
  return env[name]?.trim() ?? '';
}

function describeProblem(name: string, given: string, variable: Variable<unknown>): string {
  const shown =
    variable.secret === true
      ? 'its value (not shown because it may contain a password)'
      : JSON.stringify(given);
  return `${name}: ${shown} is not ${variable.allowed}; for example ${name}=${variable.example}`;
}

function unknownNames(env: NodeJS.ProcessEnv, reserved: string): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('MILLRACE_') && name !== reserved)
    .filter((name) => !Object.hasOwn(VARIABLES, name))
    .sort()
    .map((name) => {
      const near = nearestName(name, Object.keys(VARIABLES));
      const hint = near === null ? 'See docs/configuration.md for all names' : `Did you mean ${near}?`;
      return `${name} is set, but there is no such variable. ${hint}`;
    });
}
