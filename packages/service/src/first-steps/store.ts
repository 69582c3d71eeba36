import type { FirstStep } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { SAMPLE_TEMPLATE } from '../templates/catalogue.ts';

/** Which first steps have happened in an organisation, and its sample workflow. */
export type FirstStepsRow = { readonly [Step in FirstStep]: boolean } & {
  readonly sample_workflow_id: number | null;
};

/**
 * Reads what has happened from the records themselves. A key counts if a person issued it, because the first one comes with the installation. A second
 * member counts like an invitation, because single sign-on needs none.
 */
export async function readFirstSteps(tx: Queryable, organisationId: number): Promise<FirstStepsRow> {
  return queryRow<FirstStepsRow>(
    tx,
    `SELECT
       EXISTS (SELECT FROM executions WHERE organisation_id = $1) AS run,
       EXISTS (SELECT FROM workflows WHERE organisation_id = $1 AND template_id <> $2) AS template,
       EXISTS (SELECT FROM api_keys WHERE organisation_id = $1 AND issued_by_user IS NOT NULL) AS key,
       EXISTS (SELECT FROM invitations WHERE organisation_id = $1)
         OR EXISTS (SELECT FROM members WHERE organisation_id = $1 AND removed_at IS NULL OFFSET 1) AS invite,
       (SELECT id FROM workflows
        WHERE organisation_id = $1 AND template_id = $2 AND status <> 'archived' ORDER BY id LIMIT 1) AS sample_workflow_id`,
    [organisationId, SAMPLE_TEMPLATE],
  );
}
