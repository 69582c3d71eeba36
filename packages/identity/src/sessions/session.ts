import type { Role } from '@millrace/admin-api';

/** A signed-in user. */
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
  /** The organisation in the path and the user's membership of it; null if the path has none. */
  readonly organisation: Membership | null;
}

/** A user's role in an organisation. */
export interface Membership {
  readonly id: number;
  readonly role: Role;
  /** `members.id`; null for a system administrator who is not a member. */
  readonly memberId: number | null;
}
