import type { WorkflowStatus } from '@millrace/admin-api';

/** A workflow to be created, with the API's names. */
export type NewWorkflow = {
  readonly name: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly is_test_mode?: boolean;
  readonly status?: WorkflowStatus;
  /** A folder of the organisation; null or absent: none. */
  readonly folder_id?: number | null;
  /** Present if a workflow detail is sent back as it was read; ignored apart from that. */
  readonly id?: unknown;
};

/** What a partial update changes. */
export type WorkflowPatch = Partial<Omit<NewWorkflow, 'folder_id'>>;
