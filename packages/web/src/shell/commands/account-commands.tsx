import { OrgContext, useMe } from '@millrace/ui/api/me.ts';
import { chooseOrganisation } from '../last-organisation.ts';
import { useCommandPalette } from './command-button.tsx';

/** The command palette outside of any organisation: that of the one that was open last. */
export function AccountCommands() {
  const org = chooseOrganisation(useMe()?.organisations ?? []);
  if (org === undefined) return null;
  return (
    <OrgContext value={org}>
      <Palette />
    </OrgContext>
  );
}

function Palette() {
  return useCommandPalette().palette;
}
