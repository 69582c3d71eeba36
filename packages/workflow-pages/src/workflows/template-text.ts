import '@millrace/ui/i18n/parts/gallery.ts';
import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import type { Template } from '@millrace/admin-api';
import { titleOfType } from '@millrace/ui/i18n/credential-types.ts';
import { useGalleryText } from '@millrace/ui/i18n/service/gallery.ts';
import { useTranslation } from 'react-i18next';

/** Names the credential types that a step accepts. */
export function useCredentialTypeName(): (types: readonly string[]) => string {
  const { t } = useTranslation();
  return (types) => {
    // Any type for an HTTP API.
    if (types.length > 1) return t('gallery.apiCredential');
    const [type = ''] = types;
    return titleOfType(type, t);
  };
}

/** A template with name, description and variables in the reader's language. */
export function useTranslatedTemplate(): (template: Template) => Template {
  const say = useGalleryText();
  const inWords = (text: string): string => say(text) ?? text;
  return (template) => ({
    ...template,
    name: inWords(template.name),
    summary: inWords(template.summary),
    description: inWords(template.description),
    setup: template.setup.map((step) => ({ ...step, description: inWords(step.description) })),
    companions: template.companions.map(({ name }) => ({ name: inWords(name) })),
  });
}

/** Names a variable in the reader's language. */
export function useVariableName(): (name: string) => string {
  const say = useGalleryText();
  return (name) => say(name) ?? titleOf(name);
}

/** Words of variables that are written differently in a title. */
const WORDS = new Map([
  ['ai', 'AI'],
  ['crm', 'CRM'],
  ['email', 'e-mail'],
  ['github', 'GitHub'],
  ['stripe', 'Stripe'],
  ['timezone', 'time zone'],
  ['url', 'URL'],
]);

/** Turns `mail_from` into `Mail from`. */
function titleOf(name: string): string {
  const title = name
    .split('_')
    .map((word) => WORDS.get(word) ?? word)
    .join(' ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}
