/** A provider that people may sign in with. */
export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. Never logged or shown. */
  readonly clientSecret: string | null;
  /** On the button. */
  readonly name: string;
  /** What people whom nobody invited become in the first organisation; null: they are refused. */
  readonly newMembers: 'viewer' | 'editor' | null;
}
