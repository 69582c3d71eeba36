import { presentDetail } from '@millrace/api/public/workflows/present';
import type { Queryable } from '@millrace/database/database';
import type { JsonValue, NodeRegistry } from '@millrace/engine';
import { notFound } from '@millrace/errors/errors';
import { registry } from '@millrace/nodes';
import { typesForFlow, typesOfSaved } from '@millrace/own-connectors/types';
import { folderAt } from '@millrace/service/folders/folders';
import { findFolderPath } from '@millrace/service/folders/store';
import { triggerTypesOf } from '@millrace/service/workflows/rules';
import { createWorkflow } from '@millrace/service/workflows/save';
import { findWorkflow, type WorkflowDetailRow } from '@millrace/service/workflows/store';
import { organisationOrAsk } from './ask.ts';
import { findOwner } from './lookups.ts';
import { withDatabase } from './running-service.ts';
import { countOf } from './shared.ts';
import { type CommandResult, indentedJson } from './shell.ts';
import { readWorkflowFile, type WorkflowFile } from './workflow-file.ts';

/** A workflow as `GET /workflows/{id}` returns it, with its folder, also without `--json`: it is meant for a file. */
export function exportWorkflow(id: number): Promise<CommandResult> {
  return withDatabase(async (db) => {
    const organisationId = await findOwner(db, 'workflow', id);
    const [row, folder] = await db.forOrganisation(organisationId, async (tx) => [
      await findWorkflow(tx, organisationId, id),
      await findFolderPath(tx, organisationId, id),
    ]);
    if (row === undefined) throw notFound('workflow');
    const types = await typesOfSaved(registry, db, organisationId, row);
    const detail = { ...(await presentDetail(row, types)), ...(folder.length === 0 ? {} : { folder }) };
    return { json: detail, text: indentedJson(detail) };
  });
}

export interface ImportOptions {
  readonly org?: string;
  readonly json?: boolean;
}

/** Stores a workflow from a file as a new one, after the checks of `POST /workflows`. */
export function importWorkflow(path: string, options: ImportOptions): Promise<CommandResult> {
  return withDatabase(async (db, config) => {
    const file = await readWorkflowFile(path, config, registry);
    const { id } = await organisationOrAsk(db, options);
    const { folders } = config.limits;
    const row = await db.forOrganisation(id, async (tx) => {
      const folderId = await folderAt(tx, id, file.body.folder ?? [], folders, { actor: 'operator' });
      return storeWorkflow(tx, id, file, folderId);
    });
    return presentImported(row, await typesOfSaved(registry, db, id, row));
  });
}

/** Stores a checked workflow as the operator. */
export async function storeWorkflow(
  tx: Queryable,
  organisationId: number,
  { body, flow }: WorkflowFile,
  folderId: number | null = null,
  templateId: string | null = null,
): Promise<WorkflowDetailRow> {
  const types = await typesForFlow(registry, tx, organisationId, body.flow_data as JsonValue);
  return createWorkflow(
    tx,
    { organisationId, apiKeyId: null },
    { ...body, folder_id: folderId },
    // The file was checked without knowing whose it will be.
    types === registry ? flow : { flow: flow.flow, triggers: triggerTypesOf(flow.flow, types) },
    types,
    templateId,
  );
}

/** The result for a stored workflow: its detail, and in words what it still needs. */
export async function presentImported(
  row: WorkflowDetailRow,
  types: NodeRegistry = registry,
): Promise<CommandResult> {
  const detail = await presentDetail(row, types);
  const count = Array.isArray(detail.problems) ? detail.problems.length : 0;
  const note = count === 0 ? '' : ` ${countOf(count, 'problem')} must be fixed before it can be activated.`;
  return { json: detail, text: `Imported as workflow ${row.id}, "${row.name}", ${row.status}.${note}` };
}
