import type { PgDatabase } from '@millrace/database/pool';
import { type ChainHead, formatHead } from '@millrace/identity/audit/chain';
import type { AuditProblem, Verification } from '@millrace/identity/audit/chain-walk';
import { verifyAuditLog } from '@millrace/identity/audit/verify';
import { findOrganisation, listOrganisations } from '@millrace/identity/organisations/store';
import { withAnyDatabase } from './running-service.ts';
import { countOf } from './shared.ts';
import { type CommandResult, paint, RefusedError } from './shell.ts';

interface Verified extends Verification {
  readonly name: string;
}

/** `audit verify` */
export function verifyByCommand({
  org,
  head: heads = [],
}: {
  readonly org?: string;
  readonly head?: readonly ChainHead[];
}): Promise<CommandResult> {
  return withAnyDatabase({ createsFolder: false }, async (db) => {
    const chosen = await chooseOrganisations(db, org);
    const lost = heads.find(({ organisationId }) => chosen.every(({ id }) => id !== organisationId));
    if (lost !== undefined) {
      throw new RefusedError(
        'not_found',
        `The head ${formatHead(lost)} is of organisation ${lost.organisationId}, which doesn't exist or wasn't chosen with --org.`,
      );
    }
    const verified: Verified[] = [];
    for (const { id, name } of chosen) {
      const verification = await verifyAuditLog(db, id, { heads });
      if (verification === null) {
        throw new RefusedError('busy', `Another process is verifying the audit log of "${name}". Try again.`);
      }
      verified.push({ ...verification, name });
    }
    return {
      json: verified.map(toJson),
      text: verified.map(describe).join('\n\n'),
      isFailure: verified.some(({ problemCount }) => problemCount > 0),
    };
  });
}

interface Chosen {
  readonly id: number;
  readonly name: string;
}

async function chooseOrganisations(db: PgDatabase, org: string | undefined): Promise<readonly Chosen[]> {
  return org === undefined ? listOrganisations(db) : [await findOrganisation(db, org)];
}

function toJson({ organisationId, name, entries, dropped, head, problems, problemCount }: Verified) {
  return {
    organisation_id: organisationId,
    name,
    entries,
    dropped,
    head: head === null ? null : formatHead(head),
    problem_count: problemCount,
    problems: problems.map(({ kind, entryId, position }) => ({ kind, entry_id: entryId, position })),
  };
}

function describe({
  organisationId,
  name,
  entries,
  dropped,
  head,
  problems,
  problemCount,
}: Verified): string {
  const before =
    dropped === 0 ? '' : ` ${countOf(dropped, 'earlier entry', 'earlier entries')} exceeded the retention.`;
  const count = countOf(entries, 'entry', 'entries');
  const title = `${organisationId}  ${name}`;
  const end = head === null ? [] : [`    Head: ${formatHead(head)}`];
  if (problemCount === 0) {
    return [`${paint('green', 'ok')}  ${title}: ${count} as recorded.${before}`, ...end].join('\n');
  }
  const more = problemCount - problems.length;
  return [
    `${paint('red', 'error')}  ${title}: ${countOf(problemCount, 'problem')} in ${count}.${before}`,
    ...problems.map((problem) => `    ${sentenceOf(problem)}`),
    ...(more > 0 ? [`    And ${more.toLocaleString('en')} more.`] : []),
    ...end,
  ].join('\n');
}

function sentenceOf({ kind, entryId, position }: AuditProblem): string {
  const at = position === null ? 'not sealed yet' : `position ${position}`;
  switch (kind) {
    case 'entry_changed':
      return `Entry ${entryId} (${at}) was changed.`;
    case 'entry_missing':
      return `Entry ${entryId} (${at}) is missing.`;
    case 'entry_added':
      return `Entry ${entryId} is not in the chain: it was added without the service.`;
    case 'seal_missing':
      return `The chain has a gap at ${at}.`;
    case 'head_differs':
      return `The hash at ${at} is not the one that was kept: the chain was rewritten.`;
    case 'head_dropped':
      return `The hash at ${at} can't be compared any more: its entry exceeded the retention.`;
  }
}
