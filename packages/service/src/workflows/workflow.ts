export const WORKFLOW_STATUSES = ['draft', 'active', 'inactive', 'archived'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** A workflow that is to be created, in the names of the API. */
export type NewWorkflow = {
  readonly name: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly is_test_mode?: boolean;
  readonly status?: WorkflowStatus;
  /** There when a workflow detail is sent back as it was read; ignored but for that. */
  readonly id?: unknown;
};

/** What a partial update changes. */
export type WorkflowPatch = Partial<NewWorkflow>;
