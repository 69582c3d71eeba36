import { readFileSync, writeFileSync } from 'node:fs';
import { buildProgram, helpText, leafCommands } from '../packages/cli/src/commands/program.ts';

/**
 * Writes the help text of each command into docs/cli.md, between `<!-- help: keys create -->` and `<!-- /help -->`.
 * `--check` changes nothing and fails if a help text is outdated, missing or belongs to no command.
 */
const HELP_BLOCK = /<!-- help: ([a-z -]+) -->\n[\s\S]*?<!-- \/help -->/g;
const HELP_WIDTH = 100;

const page = new URL('../docs/cli.md', import.meta.url);
const program = buildProgram();
const commands = new Map([
  ['millrace', program],
  ...leafCommands(program).map(({ name, command }) => [name, command] as const),
]);
const before = readFileSync(page, 'utf8');
const described = [...before.matchAll(HELP_BLOCK)].map((match) => match[1] ?? '');
const problems = [
  ...[...commands.keys()]
    .filter((name) => !described.includes(name))
    .map((name) => `docs/cli.md does not show: ${name}`),
  ...described
    .filter((name) => !commands.has(name))
    .map((name) => `docs/cli.md shows a command that is gone: ${name}`),
];
const after = before.replaceAll(HELP_BLOCK, (block, name: string) => helpBlock(name) ?? block);

if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (after !== before)
  problems.push('docs/cli.md is out of date: run `node_modules/.bin/node tools/cli-reference.ts`');
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function helpBlock(name: string): string | undefined {
  const command = commands.get(name);
  if (command === undefined) return undefined;
  return `<!-- help: ${name} -->\n\n\`\`\`text\n${helpText(command, HELP_WIDTH)}\n\`\`\`\n\n<!-- /help -->`;
}
