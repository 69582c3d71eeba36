import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import type { BrokerAddress } from './protocol/metadata.ts';

/** Errors of brokers that are treated in some way; the protocol numbers them. */
export const CODE = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopic: 3,
  coordinatorLoading: 14,
  coordinatorUnavailable: 15,
  notCoordinator: 16,
  invalidTopic: 17,
  illegalGeneration: 22,
  inconsistentProtocol: 23,
  invalidGroup: 24,
  unknownMember: 25,
  rebalancing: 27,
  topicForbidden: 29,
  groupForbidden: 30,
  clusterForbidden: 31,
  unsupportedMechanism: 33,
  signInRefused: 58,
  memberIdRequired: 79,
  groupFull: 81,
  fencedInstance: 82,
} as const;

/** Names of errors, by which they are found in documentation. */
const NAMES: { readonly [code: number]: string } = {
  [-1]: 'UNKNOWN_SERVER_ERROR',
  1: 'OFFSET_OUT_OF_RANGE',
  2: 'CORRUPT_MESSAGE',
  3: 'UNKNOWN_TOPIC_OR_PARTITION',
  5: 'LEADER_NOT_AVAILABLE',
  6: 'NOT_LEADER_OR_FOLLOWER',
  7: 'REQUEST_TIMED_OUT',
  8: 'BROKER_NOT_AVAILABLE',
  9: 'REPLICA_NOT_AVAILABLE',
  10: 'MESSAGE_TOO_LARGE',
  13: 'NETWORK_EXCEPTION',
  14: 'COORDINATOR_LOAD_IN_PROGRESS',
  15: 'COORDINATOR_NOT_AVAILABLE',
  16: 'NOT_COORDINATOR',
  17: 'INVALID_TOPIC_EXCEPTION',
  18: 'RECORD_LIST_TOO_LARGE',
  19: 'NOT_ENOUGH_REPLICAS',
  20: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  22: 'ILLEGAL_GENERATION',
  23: 'INCONSISTENT_GROUP_PROTOCOL',
  24: 'INVALID_GROUP_ID',
  25: 'UNKNOWN_MEMBER_ID',
  26: 'INVALID_SESSION_TIMEOUT',
  27: 'REBALANCE_IN_PROGRESS',
  29: 'TOPIC_AUTHORIZATION_FAILED',
  30: 'GROUP_AUTHORIZATION_FAILED',
  31: 'CLUSTER_AUTHORIZATION_FAILED',
  35: 'UNSUPPORTED_VERSION',
  42: 'INVALID_REQUEST',
  44: 'POLICY_VIOLATION',
  56: 'KAFKA_STORAGE_ERROR',
  72: 'LISTENER_NOT_FOUND',
  74: 'FENCED_LEADER_EPOCH',
  76: 'UNSUPPORTED_COMPRESSION_TYPE',
  81: 'GROUP_MAX_SIZE_REACHED',
  82: 'FENCED_INSTANCE_ID',
  87: 'INVALID_RECORD',
};

/** Of these, another attempt doesn't help by itself. */
const LASTING: readonly number[] = [
  ...[CODE.unknownTopic, CODE.invalidTopic, CODE.inconsistentProtocol, CODE.invalidGroup],
  ...[CODE.topicForbidden, CODE.groupForbidden, CODE.clusterForbidden, CODE.groupFull],
  ...[10, 18, 26, 35, 44, 87],
];
const FORBIDDEN: readonly number[] = [CODE.topicForbidden, CODE.groupForbidden, CODE.clusterForbidden];

/** What was asked for, for the message. */
export interface Asked {
  readonly where: string;
  /** Of the topic or the group. */
  readonly subject: string;
}

/** A refusal by a broker, for a workflow's author. */
export function refusal(code: number, { where, subject }: Asked): ServiceError {
  const name = NAMES[code] ?? `error ${code}`;
  if (code === CODE.unknownTopic) {
    return new ServiceError(
      'kafka_topic_not_found',
      message('ports.kafka_no_topic', { topic: subject, host: where }),
    );
  }
  if (FORBIDDEN.includes(code)) {
    return new ServiceError(
      'kafka_not_authorized',
      message('ports.kafka_not_authorized', { subject, host: where, reason: name }),
    );
  }
  return new ServiceError(
    'kafka_refused',
    message('ports.kafka_refused', { subject, host: where, reason: name }),
    {
      retryable: !LASTING.includes(code),
    },
  );
}

/** @throws ServiceError if a broker refused */
export function check(code: number, asked: Asked): void {
  if (code !== CODE.none) throw refusal(code, asked);
}

/** A connection that couldn't be opened, or has ended. */
export function connectionFailed(where: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  const reason = reasonOf(cause);
  const explanation = message('ports.connection_failed', { host: where, reason });
  return new ServiceError('kafka_connection_failed', explanation, { retryable: true, cause });
}

export function nameOf({ host, port }: BrokerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
