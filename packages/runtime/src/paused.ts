/**
 * Whether the organisation of a row is paused; the statement must have one column `organisation_id`. Statements that accept or lease
 * something check it themselves: once those that began before a pause have ended, nothing more is accepted or leased.
 */
export const ORGANISATION_PAUSED =
  'EXISTS (SELECT FROM organisations p WHERE p.id = organisation_id AND p.paused_at IS NOT NULL)';
