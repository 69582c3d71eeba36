import { Select } from '@mantine/core';
import { isJsonObject, type JsonObject } from '@millrace/engine';
import { useTranslation } from 'react-i18next';
import { withMember } from '../form/field-props.ts';
import { useForm } from '../form/form-context.tsx';

/** How a service signs its calls, and where it puts the id of an event. */
interface Sender {
  readonly name: string;
  readonly signature: JsonObject;
  readonly deduplicate?: JsonObject;
  /** The type of challenges that it sends. */
  readonly challenge?: string;
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
  {
    name: 'Slack',
    signature: { preset: 'slack' },
    deduplicate: { by: 'path', name: 'event_id' },
    challenge: 'slack',
  },
  { name: 'Svix', signature: { preset: 'standard_webhooks' }, deduplicate: byHeader('svix-id') },
  {
    name: 'Standard Webhooks',
    signature: { preset: 'standard_webhooks' },
    deduplicate: byHeader('webhook-id'),
  },
  { name: 'Discord', signature: { preset: 'discord' }, challenge: 'discord' },
  { name: 'GitLab', signature: { preset: 'gitlab' }, deduplicate: byHeader('X-Gitlab-Event-UUID') },
  { name: 'HubSpot', signature: { preset: 'hubspot' } },
  { name: 'Meta (Facebook, WhatsApp)', signature: { preset: 'meta' }, challenge: 'meta' },
  { name: 'Microsoft Graph', signature: { preset: 'microsoft' }, challenge: 'microsoft' },
  { name: 'Paddle', signature: { preset: 'paddle' }, deduplicate: { by: 'path', name: 'event_id' } },
  { name: 'SendGrid', signature: { preset: 'sendgrid' } },
  { name: 'Square', signature: { preset: 'square' }, deduplicate: { by: 'path', name: 'event_id' } },
  { name: 'Telegram', signature: { preset: 'telegram' }, deduplicate: { by: 'path', name: 'update_id' } },
  { name: 'Twilio', signature: { preset: 'twilio' }, deduplicate: byHeader('I-Twilio-Idempotency-Token') },
  { name: 'Zendesk', signature: { preset: 'zendesk' }, deduplicate: { by: 'path', name: 'id' } },
  { name: 'Zoom', signature: { preset: 'zoom' }, challenge: 'zoom' },
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
    const known = withMember(withMember(config, 'signature', signature), 'deduplicate', sender?.deduplicate);
    const challenge = sender?.challenge === undefined ? undefined : { type: sender.challenge };
    onChange(withMember(known, 'challenge', challenge));
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
    ({ signature, deduplicate = {} }) =>
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
