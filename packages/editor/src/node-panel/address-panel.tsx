import { Alert, Button, Stack } from '@mantine/core';
import { useRole } from '@millrace/ui/api/me.ts';
import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyableText, Former, Listener, Regenerate } from './webhook-panel.tsx';

interface Address {
  readonly url: string;
  readonly is_open: boolean;
  readonly previous: readonly { readonly url: string; readonly valid_until: string }[];
}

/** The public address of a page: a link that opens it, why it is closed, URL regeneration, and listening for a call to test with. */
export function AddressPanel({
  params,
  address,
  isSaved,
  texts: { label, url, open, closed },
  children,
}: {
  params: { org: number; id: number };
  address: Address;
  /** Whether the saved version has the trigger. */
  isSaved: boolean;
  /** `closed` null: it is open. */
  texts: { label: string; url: string; open: string; closed: string | null };
  /** Below the link. */
  children?: ReactNode;
}) {
  const { can } = useRole();
  return (
    <Stack gap="sm" component="section" aria-label={label}>
      {closed !== null && (
        <Alert color="orange" p="xs">
          {closed}
        </Alert>
      )}
      <CopyableText label={url} text={address.url} />
      {address.is_open && (
        <Button
          component="a"
          href={address.url}
          target="_blank"
          variant="default"
          w="fit-content"
          leftSection={<ExternalLink size={14} />}
        >
          {open}
        </Button>
      )}
      {children}
      {can('editor') && <Listener params={params} isOpen={address.is_open} isSaved={isSaved} />}
      {address.previous.map(({ url: former, valid_until: until }) => (
        <Former key={former} url={former} until={until} />
      ))}
      {can('editor') && <Regenerate params={params} />}
    </Stack>
  );
}
