import type { Config } from '../settings/config.ts';
import type { Service } from './service.ts';

/**
 * Printed when the service is running. At the first start: the setup link and the key, which are never shown again, and two commands that
 * can be pasted unchanged (sh, curl and sed are all they need).
 */
export function announce(service: Service, config: Config): string {
  if (service.address === null) return 'Millrace is running executions. Press Ctrl-C to stop.';
  const lines = [`Millrace is ready: ${service.address}`, `API: ${service.address}/api/v1`];
  if (!config.portIsExplicit && service.port !== config.port) {
    lines.push(`Port ${config.port} is taken, so Millrace uses ${service.port}. To choose another: PORT=...`);
  }
  const key = service.firstStart?.apiKey ?? null;
  return [
    ...lines,
    ...setup(service),
    '',
    ...(key === null ? withoutKey(service) : withKey(service, key)),
    'Press Ctrl-C to stop.',
    '',
  ].join('\n');
}

/** The same for programs, on one line; key, workflow and link at the first start only. */
export function announceJson({ address, setupUrl, firstStart: first }: Service, config: Config): string {
  return JSON.stringify({
    address,
    public_url: address !== null && config.publicUrlIsExplicit ? config.publicUrl : address,
    pid: process.pid,
    ...(setupUrl === null ? {} : { setup_url: setupUrl }),
    ...(first === null || first.apiKey === null ? {} : { first_api_key: first.apiKey }),
    ...(first === null ? {} : { sample_workflow_id: first.workflowId }),
  });
}

function setup({ setupUrl, needsSetup }: Service): string[] {
  if (setupUrl !== null) {
    return ['', 'No accounts yet. Create the first one (this link works once):', '', `  ${setupUrl}`];
  }
  return needsSetup
    ? ['', 'No accounts yet. To get a link that creates the first one: npx millrace setup-link']
    : [];
}

/** The key is read from the environment, so it appears neither here nor in the shell's history. */
function withoutKey({ address, firstStart }: Service): string[] {
  const authorisation = '-H "Authorization: Bearer $MILLRACE_KEY"';
  const call =
    firstStart === null
      ? `  curl -s ${address}/api/v1/workflows ${authorisation}; echo`
      : `  curl -s -X POST ${address}/api/v1/workflows/${firstStart.workflowId}/execute ${authorisation}; echo`;
  return [
    'To create an API key: npx millrace keys create',
    firstStart === null
      ? 'With the key in MILLRACE_KEY, list the workflows:'
      : 'With the key in MILLRACE_KEY, start the sample workflow:',
    '',
    call,
    '',
  ];
}

function withKey({ address, firstStart }: Service, key: string): string[] {
  const authorisation = `-H 'Authorization: Bearer ${key}'`;
  return [
    "Your first API key. It won't be shown again:",
    '',
    `  ${key}`,
    '',
    'Start the sample workflow:',
    '',
    `  ID=$(curl -s -X POST ${address}/api/v1/workflows/${firstStart?.workflowId}/execute ${authorisation} -H 'Content-Type: application/json' -d '{"input_data":{"name":"Ada"}}' | sed -n 's/.*"execution_id":\\([0-9]*\\).*/\\1/p'); echo "execution $ID"`,
    '',
    'Read its result:',
    '',
    `  curl -s "${address}/api/v1/executions/$ID?wait=30" ${authorisation}; echo`,
    '',
    'To create another API key: npx millrace keys create',
  ];
}
