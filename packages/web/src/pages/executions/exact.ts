import type { Answer, EndpointName, Problem } from '@millrace/admin-api';
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { attendanceHeaders } from '../../api/attendance.ts';
import { ApiProblem, addressOf, type CallArguments } from '../../api/client.ts';
import { noteServiceTime } from '../../api/clock.ts';

/**
 * Reads from the service without rounding numbers: what a workflow put out is shown as it is.
 * @throws ApiProblem when the service refuses; TypeError when it cannot be reached
 */
export async function readExactly<Name extends EndpointName & `GET ${string}`>(
  name: Name,
  options: CallArguments<Name>[0] & { readonly signal?: AbortSignal },
): Promise<Answer<Name>> {
  const address = addressOf(name, ...([options] as unknown as CallArguments<Name>));
  const response = await fetch(address, {
    headers: attendanceHeaders(),
    ...(options?.signal === undefined ? {} : { signal: options.signal }),
  });
  noteServiceTime(response);
  const text = await response.text();
  if (!response.ok) throw toProblem(response.status, text);
  return parseJson(text) as unknown as Answer<Name>;
}

/** Starts an execution again, with numbers in its input as they were typed. */
export async function rerunExactly(org: number, execution: number, input: JsonValue): Promise<number> {
  const address = addressOf('POST /orgs/:org/executions/:execution/rerun', {
    params: { org, execution },
    body: { from: 'start' },
  });
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: stringifyJson({ from: 'start', input_data: input }),
  });
  const text = await response.text();
  if (!response.ok) throw toProblem(response.status, text);
  return Number((parseJson(text) as JsonObject).execution_id);
}

function toProblem(status: number, text: string): ApiProblem {
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(text) as Partial<Problem>;
  } catch {
    // What stands between may answer in its own words.
  }
  return new ApiProblem(status, problem);
}
