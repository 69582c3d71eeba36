import type { FileSettings } from '@millrace/files/settings';
import type { SessionSettings } from '@millrace/identity/sessions/settings';
import type { SingleSignOnSettings } from '@millrace/identity/single-sign-on/settings';
import type { NodeLimits, WorkerSettings } from '@millrace/runtime/settings';
import type {
  AdmissionSettings,
  AlertSettings,
  FlowLimits,
  FolderLimits,
  RetentionSettings,
  StartLimits,
  StorageSettings,
} from '@millrace/service/settings';
import type { SheddingSettings } from './pressure.ts';

export interface RequestLimits {
  readonly bodyBytes: number;
  /** For all bodies of the process together. */
  readonly bodyBudgetBytes: number;
  /** Wherever flow_data is sent. */
  readonly flowBodyBytes: number;
  /** Of a batch of starts. */
  readonly batchBodyBytes: number;
  /** 0: no limit. */
  readonly requestsPerMinutePerKey: number;
  /** 0: no limit. */
  readonly requestsPerMinutePerWebhook: number;
  /** Callers of webhooks that wait for a response at the same time. 0: no limit. */
  readonly waitingCallers: number;
  readonly waitingCallersPerOrganisation: number;
  readonly failedAuthPerMinutePerIp: number;
  readonly jsonDepth: number;
  readonly headerBytes: number;
  readonly headersTimeoutMs: number;
  /** Open at the same time; null: as many as the limit of open files allows. */
  readonly connections: number | null;
  /** Per address; null: half of them. 0: no limit. */
  readonly connectionsPerAddress: number | null;
}

/** Settings of the HTTP side of the service. */
export interface ApiSettings {
  /** Base of every URL in responses, without a trailing slash. */
  readonly publicUrl: string;
  /** False, the number of trusted proxies in front, or their addresses. */
  readonly trustProxy: false | number | string[];
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
  readonly shedding: SheddingSettings;
  /** Hosts that nodes may call although they are in a private network. */
  readonly allowHosts: readonly string[];
}
