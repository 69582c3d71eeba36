import type { JsonObject } from '@millrace/values/json';

/** Where a listening trigger receives from. Connections are made by the package `listening`; this only describes their target. */
export type ListenSource =
  | {
      readonly kind: 'imap';
      readonly credentialId: number;
      /** Signs in with a token of an `oauth2` credential, for this mailbox on this server; null: the credential is an `imap` one. */
      readonly oauth: { readonly mailbox: string; readonly host: string; readonly port: number } | null;
      readonly folder: string;
      readonly onlyUnseen: boolean;
      /** Parts of the header that messages must contain; empty: any. */
      readonly from: string;
      readonly subject: string;
      /** What happens to a message once its execution is stored. */
      readonly after: 'seen' | 'move' | 'nothing';
      readonly moveTo: string;
      readonly attachments: boolean;
      readonly existing: 'skip' | 'start';
      /** Polling interval for a server without IDLE. */
      readonly intervalMs: number;
    }
  | {
      readonly kind: 'redis';
      readonly credentialId: number;
      readonly stream: string;
      readonly group: string;
      readonly existing: 'skip' | 'start';
      /** After which entries that another consumer of the group didn't acknowledge are taken over. */
      readonly claimAfterMs: number;
    }
  | {
      readonly kind: 'mqtt';
      readonly credentialId: number;
      readonly topics: readonly string[];
      /** Identifies the session that the broker keeps; empty: derived from the workflow's id. */
      readonly clientId: string;
    }
  | {
      readonly kind: 'kafka';
      readonly credentialId: number;
      readonly topics: readonly string[];
      /** Empty: derived from the workflow's id. */
      readonly group: string;
      readonly existing: 'skip' | 'start';
    }
  | { readonly kind: 'postgresql'; readonly credentialId: number; readonly channels: readonly string[] }
  | { readonly kind: 'sqs'; readonly credentialId: number; readonly queueUrl: string };

export type ListenSourceOf<Kind extends ListenSource['kind']> = Extract<ListenSource, { kind: Kind }>;

/** How a trigger stays connected to what it receives from. */
export interface ListeningDefinition {
  /** The settings that identify the source: when one of them changes, listening starts over. */
  readonly place: readonly string[];
  /** The source under a config that matches the trigger's schema. */
  source(config: JsonObject): ListenSource;
}
