import type { Config } from '../config.ts';
import type { Service } from '../main.ts';

/**
 * What is printed when the service runs. At the first start: the key, which is never shown again, and two commands
 * that can be pasted as they are (sh, curl and sed are all they need).
 */
export function announce(service: Service, config: Config): string {
  if (service.address === null) return 'Millrace runs executions. Press Ctrl-C to stop.';
  const lines = [`Millrace is ready: ${service.address}`, `API: ${service.address}/api/v1`];
  if (!config.portIsExplicit && service.port !== config.port) {
    lines.push(`Port ${config.port} is taken, so it uses ${service.port}. PORT=... chooses another.`);
  }
  if (service.setupUrl !== null) {
    lines.push('', 'Nobody has an account yet. Make the first one (this link works once):', '');
    lines.push(`  ${service.setupUrl}`);
  }
  return [...lines, '', ...(service.firstStart === null ? laterStart() : firstStart(service)), ''].join('\n');
}

/** The same for programs, in one line; key and workflow at the first start only, the link while nobody has an account. */
export function announceJson({ address, setupUrl, firstStart: first }: Service, config: Config): string {
  return JSON.stringify({
    address,
    public_url: address !== null && config.publicUrlIsExplicit ? config.publicUrl : address,
    pid: process.pid,
    ...(setupUrl === null ? {} : { setup_url: setupUrl }),
    ...(first === null ? {} : { first_api_key: first.apiKey, sample_workflow_id: first.workflowId }),
  });
}

function laterStart(): string[] {
  return ['New API key: npx millrace keys create', 'Press Ctrl-C to stop.'];
}

function firstStart({ address, firstStart: first }: Service): string[] {
  if (first === null) return [];
  const { apiKey, workflowId } = first;
  const authorisation = `-H 'Authorization: Bearer ${apiKey}'`;
  return [
    'Your first API key. It is shown this one time only:',
    '',
    `  ${apiKey}`,
    '',
    'Start the sample workflow:',
    '',
    `  ID=$(curl -s -X POST ${address}/api/v1/workflows/${workflowId}/execute ${authorisation} -H 'Content-Type: application/json' -d '{"input_data":{"name":"Ada"}}' | sed -n 's/.*"execution_id":\\([0-9]*\\).*/\\1/p'); echo "execution $ID"`,
    '',
    'Read its result:',
    '',
    `  curl -s "${address}/api/v1/executions/$ID?wait=30" ${authorisation}; echo`,
    '',
    'Another API key: npx millrace keys create',
    'Press Ctrl-C to stop.',
  ];
}
