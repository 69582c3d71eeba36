import type { DoctorCheck } from '@millrace/admin-api';
import type { Message } from '@millrace/messages';

/** Something about the installation that somebody should know. */
export interface Finding {
  readonly check: DoctorCheck;
  /** `error`: something doesn't work, or data is at risk. `warning`: something will go wrong under circumstances. `info`: worth knowing. */
  readonly level: 'error' | 'warning' | 'info';
  readonly what: Message;
  readonly why: Message;
  readonly fix: Message;
}

/** What was looked at, and what was found. */
export interface Diagnosis {
  /** Checks that were carried out; those without a finding are all right. */
  readonly checks: readonly DoctorCheck[];
  readonly findings: readonly Finding[];
}
