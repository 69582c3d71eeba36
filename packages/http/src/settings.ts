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

/** Settings of everything that serves HTTP, whatever it serves. */
export interface HttpSettings {
  /** Base of every URL in responses, without a trailing slash. */
  readonly publicUrl: string;
  /** False, the number of trusted proxies in front, or their addresses. */
  readonly trustProxy: false | number | string[];
  readonly limits: RequestLimits;
  readonly shedding: SheddingSettings;
}
