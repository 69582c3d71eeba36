import { registry } from '@millrace/nodes';
import { notFound } from '../errors.ts';
import { presentDetail } from '../features/workflows/present.ts';
import { createWorkflow } from '../features/workflows/save.ts';
import { findWorkflow } from '../features/workflows/store.ts';
import { organisationOrAsk } from './ask.ts';
import { findOwnerOfWorkflow } from './lookups.ts';
import { withDatabase } from './running-service.ts';
import { type Answer, indentedJson } from './shell.ts';
import { readWorkflowFile } from './workflow-file.ts';

/** A workflow as `GET /workflows/{id}` returns it, for a person too: it is meant for a file. */
export function exportWorkflow(id: number): Promise<Answer> {
  return withDatabase(async (db) => {
    const organisationId = await findOwnerOfWorkflow(db, id);
    const row = await db.forOrganisation(organisationId, (tx) => findWorkflow(tx, organisationId, id));
    if (row === undefined) throw notFound('workflow');
    const detail = presentDetail(row, registry);
    return { json: detail, text: indentedJson(detail) };
  });
}

/** Stores a workflow from a file as a new one, after the checks of `POST /workflows`. */
export function importWorkflow(path: string, options: { org?: string; json?: boolean }): Promise<Answer> {
  return withDatabase(async (db, config) => {
    const { body, flow } = await readWorkflowFile(path, config, registry);
    const organisation = await organisationOrAsk(db, options);
    const row = await db.forOrganisation(organisation.id, (tx) =>
      createWorkflow(tx, { organisationId: organisation.id, apiKeyId: null }, body, flow),
    );
    const detail = presentDetail(row, registry);
    const count = Array.isArray(detail.problems) ? detail.problems.length : 0;
    const note =
      count === 0
        ? ''
        : ` ${count} problem${count === 1 ? '' : 's'} must be mended before it can be activated.`;
    return { json: detail, text: `Imported as workflow ${row.id}, "${row.name}", ${row.status}.${note}` };
  });
}
