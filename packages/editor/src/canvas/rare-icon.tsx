import {
  Box,
  Calendar,
  ClipboardList,
  Contact,
  CreditCard,
  FileArchive,
  FileCode,
  FileInput,
  FileOutput,
  FileType,
  GitBranch,
  Grid3x3,
  HardDrive,
  Image,
  KeyRound,
  ListChecks,
  type LucideIcon,
  NotebookText,
  PanelTop,
  Rss,
  Sheet,
} from 'lucide-react';

const ICONS: { readonly [name: string]: LucideIcon } = {
  calendar: Calendar,
  'clipboard-list': ClipboardList,
  contact: Contact,
  'credit-card': CreditCard,
  'file-archive': FileArchive,
  'file-code': FileCode,
  'file-input': FileInput,
  'file-output': FileOutput,
  'file-type': FileType,
  'git-branch': GitBranch,
  'grid-3x3': Grid3x3,
  'hard-drive': HardDrive,
  image: Image,
  'key-round': KeyRound,
  'list-checks': ListChecks,
  'notebook-text': NotebookText,
  'panel-top': PanelTop,
  rss: Rss,
  sheet: Sheet,
};

/** Icons of nodes that few workflows have, by their Lucide names; a box for unknown ones. */
export default function RareIcon({ name, size }: { name: string; size: number }) {
  const Icon = (Object.hasOwn(ICONS, name) ? ICONS[name] : undefined) ?? Box;
  return <Icon size={size} aria-hidden />;
}
