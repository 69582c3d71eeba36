/** Failure alerts of one organisation. */
export interface AlertSettings {
  readonly rules: number;
  readonly messagesPerHour: number;
}
