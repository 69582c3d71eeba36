import { Box, FileCode, FileType, KeyRound, type LucideIcon, PanelTop, Rss } from 'lucide-react';

const ICONS: { readonly [name: string]: LucideIcon } = {
  'file-code': FileCode,
  'file-type': FileType,
  'key-round': KeyRound,
  'panel-top': PanelTop,
  rss: Rss,
};

/** Icons of nodes that few workflows have, by their Lucide names; a box for unknown ones. */
export default function RareIcon({ name, size }: { name: string; size: number }) {
  const Icon = (Object.hasOwn(ICONS, name) ? ICONS[name] : undefined) ?? Box;
  return <Icon size={size} aria-hidden />;
}
