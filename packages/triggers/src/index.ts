export { type ChatOptions, MAX_CHAT_FILES, readChatOptions } from './chat/options.ts';
export { type FormField, type FormPage, MAX_TEXT, pagesOf } from './form/fields.ts';
export { inputOfValues } from './form/from-schema.ts';
export { type FormOptions, readFormOptions } from './form/options.ts';
export { faultOfQuestions, questionsSchema, readQuestions, writeQuestion } from './form/questions.ts';
export { type FieldFault, filesOf, isAccepted, readFields, withPlainBreaks } from './form/read-fields.ts';
export { readSchedule, type ScheduleDefinition } from './schedule/definition.ts';
export { jitterMs, nextFires } from './schedule/next-fires.ts';
export { triggerChat } from './trigger-chat.ts';
export { triggerEmail } from './trigger-email.ts';
export { triggerForm } from './trigger-form.ts';
export { triggerKafka } from './trigger-kafka.ts';
export { triggerManual } from './trigger-manual.ts';
export { triggerMqtt } from './trigger-mqtt.ts';
export { triggerPoll } from './trigger-poll.ts';
export { triggerPostgresql } from './trigger-postgresql.ts';
export { triggerRedis } from './trigger-redis.ts';
export { triggerRss } from './trigger-rss.ts';
export { triggerSchedule } from './trigger-schedule.ts';
export { triggerSqs } from './trigger-sqs.ts';
export { triggerWebhook } from './trigger-webhook.ts';
export {
  answerProven,
  answerUnproven,
  type ChallengeAnswer,
  type ChallengeOptions,
} from './webhook/challenge.ts';
export { hasPublicKey, needsSecret, readsBody } from './webhook/checks.ts';
export { eventIdOf } from './webhook/event-id.ts';
export { responseHeaderFault } from './webhook/faults.ts';
export {
  type DeduplicateOptions,
  readWebhookOptions,
  readWebhookResponse,
  type SignatureOptions,
  type WebhookOptions,
  type WebhookResponse,
} from './webhook/options.ts';
export {
  acceptedMethods,
  isSecretName,
  isWebhookPath,
  keptRequest,
  matchPath,
  type ReceivedRequest,
  shapeOfPath,
} from './webhook/request.ts';
