/** A provider that users may sign in with. */
export interface SingleSignOnSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. Never logged or shown. */
  readonly clientSecret: string | null;
  /** Shown on the button. */
  readonly name: string;
  /** The role in the first organisation of people nobody invited; null if they are refused. */
  readonly newMembers: 'viewer' | 'editor' | null;
}
