/** Whether an execution with this status may still change. */
export function isUnderWay(status: string): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting_async';
}
