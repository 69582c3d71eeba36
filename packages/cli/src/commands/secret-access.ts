import { createSecretKeys, prepareSecretKeys, type SecretKeys } from '@millrace/secrets/keys';
import { discardLostSecondFactors, discardLostSecrets } from '@millrace/service/secret-rotation/reset';
import { type RotationStep, rotateSecrets } from '@millrace/service/secret-rotation/rotate';
import { confirmOrRefuse } from './ask.ts';
import { withAnyDatabase, withDatabase } from './running-service.ts';
import { OPERATOR } from './shared.ts';
import type { CommandResult } from './shell.ts';

/** `secrets rotate` */
export function rotateByCommand(options: { readonly json?: boolean }): Promise<CommandResult> {
  return withDatabase(async (db, config) => {
    const keys = createSecretKeys(config);
    const onStep = options.json === true ? () => {} : tellStep;
    const rotation = await rotateSecrets(db, keys, OPERATOR, onStep);
    const json = {
      key_id: rotation.keyId,
      retired_key_ids: rotation.retired,
      reencrypted: rotation.reencrypted,
      is_resumed: rotation.isResumed,
    };
    return { json, text: describe(rotation.keyId, rotation.reencrypted, rotation.isResumed, keys) };
  });
}

/** On standard error, so that standard output contains only the result. */
function tellStep(step: RotationStep): void {
  const line = progressLine(step);
  if (line !== null) process.stderr.write(`${line}\n`);
}

function progressLine(step: RotationStep): string | null {
  switch (step.step) {
    case 'key_written':
      return null;
    case 'key_changed':
      return `The new key is in use; re-encrypting ${step.total} secrets.`;
    case 'batch':
      return `${step.done} of ${step.total}`;
    case 'key_retired':
      return 'The previous key is no longer needed.';
  }
}

function describe(keyId: string, count: number, isResumed: boolean, keys: SecretKeys): string {
  const what = isResumed
    ? `Finished the interrupted rotation: re-encrypted the remaining ${count} credentials.`
    : `Re-encrypted ${count} credentials.`;
  const next =
    keys.source === 'variable'
      ? 'You can now remove MILLRACE_SECRET_KEY_PREVIOUS from all processes.'
      : `The key is in ${keys.filePath}. Back it up.`;
  return `${what} The key is ${keyId}. ${next} Earlier database backups need the previous key.`;
}

/** `secrets reset` */
export function resetByCommand(options: {
  readonly yes?: boolean;
  readonly json?: boolean;
}): Promise<CommandResult> {
  // Also works for a service that can't start because its key is lost.
  return withAnyDatabase({ createsFolder: false }, async (db, config) => {
    const keys = createSecretKeys(config);
    if (options.yes !== true) {
      await confirmOrRefuse(
        "Discard all secrets that can't be decrypted with the existing keys?",
        '--yes',
        options,
      );
    }
    const lost = await discardLostSecrets(db, keys, OPERATOR);
    const people = await discardLostSecondFactors(db, keys);
    await prepareSecretKeys(db, keys, { makesKey: true });
    const names = lost.map(({ id, name }) => `  ${id}  ${name}`);
    const text =
      lost.length === 0
        ? 'Every credential can be decrypted. Nothing was changed.'
        : `${lost.length} credentials no longer have a secret. Enter each again with "millrace credentials update ID":\n${names.join('\n')}`;
    const alsoOff =
      people.length === 0
        ? ''
        : `\nTwo-factor authentication is off for ${people.length} people. They can set it up again:\n${people.map((email) => `  ${email}`).join('\n')}`;
    const json = {
      given_up: lost.map(({ id, name }) => ({ id, name })),
      second_factor_off: people,
    };
    return { json, text: text + alsoOff };
  });
}
