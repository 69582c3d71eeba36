import { type ChainHead, parseHead } from '@millrace/identity/audit/chain';
import { type Command, InvalidArgumentError } from 'commander';
import { addCommand } from './command.ts';
import { ORG } from './shared.ts';

/** `millrace audit ...` */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('verify that the audit log is unchanged');

  addCommand<{ org?: string; head?: readonly ChainHead[] }>(audit, {
    usage: 'verify',
    description:
      'compare every entry with the chain of hashes of its organisation; exits with 1 if one was changed, is missing or was added',
    options: [
      { flags: ORG.flags, description: 'only this organisation; all by default' },
      {
        flags: '--head <head>',
        description:
          'a head that was printed or logged earlier, which the chain must still contain; repeatable',
        parse: collectHeads,
      },
    ],
    examples: [
      'millrace audit verify',
      'millrace audit verify --head 1:1234:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
    ],
    run: async (_args, options) => {
      const { verifyByCommand } = await import('./audit-report.ts');
      return verifyByCommand(options);
    },
  });
}

function collectHeads(text: string, before: unknown): ChainHead[] {
  const head = parseHead(text);
  if (head === null) {
    throw new InvalidArgumentError(
      'A head is ORGANISATION:POSITION:HASH, as "millrace audit verify" prints it.',
    );
  }
  return [...((before as ChainHead[] | undefined) ?? []), head];
}
