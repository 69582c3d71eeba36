import { Select } from '@mantine/core';
import { isJsonObject, type JsonObject } from '@millrace/engine';
import { useTranslation } from 'react-i18next';
import { withMember } from '../form/field-props.ts';
import { useForm } from '../form/form-context.tsx';

/** How a service signs its calls, and where it puts the id of an event. */
interface Sender {
  readonly name: string;
  readonly signature: JsonObject;
  readonly deduplicate: JsonObject;
}

const byHeader = (name: string) => ({ by: 'header', name });

const SENDERS: readonly Sender[] = [
  { name: 'GitHub', signature: { preset: 'github' }, deduplicate: byHeader('X-GitHub-Delivery') },
  { name: 'Stripe', signature: { preset: 'stripe' }, deduplicate: { by: 'path', name: 'id' } },
  {
    name: 'Shopify',
    signature: { preset: 'hmac', header: 'X-Shopify-Hmac-Sha256', encoding: 'base64' },
    deduplicate: byHeader('X-Shopify-Webhook-Id'),
  },
  { name: 'Slack', signature: { preset: 'slack' }, deduplicate: { by: 'path', name: 'event_id' } },
  { name: 'Svix', signature: { preset: 'standard_webhooks' }, deduplicate: byHeader('svix-id') },
  {
    name: 'Standard Webhooks',
    signature: { preset: 'standard_webhooks' },
    deduplicate: byHeader('webhook-id'),
  },
];

/** Fills in the signature and the event id of a known sender; the secret stays. */
export function WebhookSender({
  config,
  onChange,
}: {
  config: JsonObject;
  onChange: (config: JsonObject) => void;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const choose = (name: string | null) => {
    const sender = SENDERS.find((each) => each.name === name);
    const { credential_id: secret = 0, previous_credential_id: former } = objectOf(config.signature);
    const signature =
      sender === undefined
        ? undefined
        : {
            ...sender.signature,
            credential_id: secret,
            ...(former === undefined ? {} : { previous_credential_id: former }),
          };
    onChange(withMember(withMember(config, 'signature', signature), 'deduplicate', sender?.deduplicate));
  };
  return (
    <Select
      label={t('forms.sender.label')}
      description={t('forms.sender.hint')}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder={t('forms.sender.any')}
      data={SENDERS.map(({ name }) => name)}
      value={senderOf(config)}
      onChange={choose}
      disabled={isReadOnly}
      clearable
    />
  );
}

/** The sender whose signature and event id these are. */
function senderOf(config: JsonObject): string | null {
  const found = SENDERS.find(
    ({ signature, deduplicate }) =>
      includes(objectOf(config.signature), signature) && includes(objectOf(config.deduplicate), deduplicate),
  );
  return found?.name ?? null;
}

function includes(object: JsonObject, members: JsonObject): boolean {
  return Object.entries(members).every(([name, value]) => object[name] === value);
}

function objectOf(value: JsonObject[string] | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
