/** Where a change came from, for the audit log. */
export interface RequestOrigin {
  readonly sourceIp: string;
  readonly requestId: string;
}
