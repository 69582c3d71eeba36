import type { Role } from '@millrace/admin-api';

/** Who is signed in. */
export interface Session {
  readonly id: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly userId: number;
  readonly email: string;
  readonly name: string;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  readonly isSystemAdmin: boolean;
  /** The organisation in the path and what the user is in it; null when the path has none. */
  readonly organisation: Membership | null;
}

/** What somebody is in an organisation. */
export interface Membership {
  readonly id: number;
  readonly role: Role;
  /** `members.id`; null for a system administrator who is no member. */
  readonly memberId: number | null;
}
