import type { AlertSettings } from '@millrace/alerts/settings';
import type { FileSettings } from '@millrace/files/settings';
import type { HttpSettings, RequestLimits } from '@millrace/http/settings';
import type { SessionSettings } from '@millrace/identity/sessions/settings';
import type { SingleSignOnSettings } from '@millrace/identity/single-sign-on/settings';
import type { NodeLimits, WorkerSettings } from '@millrace/runtime/settings';
import type {
  AdmissionSettings,
  FlowLimits,
  FolderLimits,
  RetentionSettings,
  StartLimits,
  StorageSettings,
} from '@millrace/service/settings';

/** Settings of both APIs. */
export interface ApiSettings extends HttpSettings {
  readonly limits: RequestLimits & FlowLimits & FolderLimits & NodeLimits & StartLimits;
  readonly sessions: SessionSettings;
  /** OpenID Connect; null: people sign in with passwords only. */
  readonly singleSignOn: SingleSignOnSettings | null;
  readonly worker: Pick<WorkerSettings, 'leaseMs' | 'maxCrashedAttempts'>;
  readonly retention: RetentionSettings;
  readonly admission: AdmissionSettings;
  readonly storage: StorageSettings;
  readonly files: Pick<FileSettings, 'organisationBytes'>;
  readonly alerts: AlertSettings;
  /** Hosts that nodes may call although they are in a private network. */
  readonly allowHosts: readonly string[];
}
