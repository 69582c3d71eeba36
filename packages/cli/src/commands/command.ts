import type { Command } from 'commander';
import { type CommandResult, printResult, ReportedFailure } from './shell.ts';

/** One option: its flags, its description, and how its text is parsed. */
export interface OptionSpec {
  readonly flags: string;
  readonly description: string;
  /**
   * @param before the previous value of a repeatable option
   * @throws InvalidArgumentError
   */
  readonly parse?: (text: string, before?: unknown) => unknown;
}

/** One command as seen by the command line. */
export interface CommandSpec<Options> {
  /** Name and arguments: `revoke <key>`. */
  readonly usage: string;
  readonly description: string;
  /** Description of each argument, in order. */
  readonly argumentHelp?: readonly string[];
  readonly options?: readonly OptionSpec[];
  /** Lines as typed, without the prompt; at least one. */
  readonly examples: readonly [string, ...string[]];
  run(args: readonly string[], options: Options): Promise<CommandResult | null>;
}

/** Adds a command with everything they share: `--json`, examples in `--help`, printing of the result. */
export function addCommand<Options>(parent: Command, spec: CommandSpec<Options>): void {
  const command = parent.command(spec.usage).description(spec.description);
  command.registeredArguments.forEach((argument, index) => {
    argument.description = spec.argumentHelp?.[index] ?? '';
  });
  for (const { flags, description, parse } of spec.options ?? []) {
    if (parse === undefined) command.option(flags, description);
    else command.option(flags, description, parse);
  }
  command.option('--json', 'print one JSON value on standard output and nothing else');
  addExamples(command, spec.examples);
  command.action(async () => {
    const options = command.opts<Options & { json?: boolean }>();
    const result = await spec.run(command.args, options);
    if (result === null) return;
    await printResult(result, options.json === true);
    if (result.isFailure === true) throw new ReportedFailure();
  });
}

/** Appends example lines to a command's help. */
export function addExamples(command: Command, examples: readonly string[]): void {
  const heading = examples.length === 1 ? 'Example' : 'Examples';
  command.addHelpText('after', `\n${heading}:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}
