import type { OfferedCredential } from '@millrace/editor-model/curl.ts';
import type { NamedField } from '@millrace/editor-model/field-shape.ts';
import { isCurl } from '@millrace/editor-model/pasted-text.ts';
import type { JsonObject } from '@millrace/engine';
import { type ClipboardEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';
import { PastedCredential } from './pasted-credential.tsx';

/** What a curl command sets; anything else stays. */
const SET_BY_CURL = ['method', 'url', 'headers', 'query', 'body', 'body_type', 'auth'];

/** Whether fields are those of a request, so that a curl command can fill them. */
export function areOfRequest(fields: readonly NamedField[]): boolean {
  return SET_BY_CURL.every((name) => fields.some((field) => field.name === name));
}

/** A request's URL field: a curl command that is pasted into it fills the whole request. */
export function CurlTarget({
  value,
  onChange,
  children,
}: {
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const [offer, setOffer] = useState<OfferedCredential | null>(null);
  const fill = async (text: string) => {
    const { takeCurl } = await import('../canvas/take-curl.ts');
    const read = takeCurl(text, t);
    if (read === null) return;
    const others = Object.entries(value).filter(([name]) => !SET_BY_CURL.includes(name));
    onChange({ ...Object.fromEntries(others), ...read.config });
    setOffer(read.credential);
  };
  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text/plain');
    if (isReadOnly || !isCurl(text)) return;
    event.preventDefault();
    event.stopPropagation();
    void fill(text);
  };
  return (
    <div onPasteCapture={onPaste}>
      {children}
      {offer !== null && (
        <PastedCredential
          offer={offer}
          onKept={(id) => onChange({ ...value, auth: { type: 'credential', credential_id: id } })}
          onClose={() => setOffer(null)}
        />
      )}
    </div>
  );
}
