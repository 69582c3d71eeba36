import { own } from '@millrace/engine';
import {
  Bot,
  Box,
  CalendarClock,
  CodeXml,
  Database,
  Globe,
  ListOrdered,
  type LucideIcon,
  Mail,
  MessageSquare,
  OctagonX,
  PencilLine,
  Play,
  Sparkles,
  Split,
  Timer,
  UserCheck,
  Webhook,
} from 'lucide-react';
import { lazy, Suspense } from 'react';

/** Loaded when a node that few workflows have is shown. Without a connection that is no reason to show nothing else. */
const RareIcon = lazy(() => import('./rare-icon.tsx').catch(() => ({ default: UnknownIcon })));

/** Icons used by the catalogue; bundling all of Lucide would mean 1,600 icons for two dozen nodes. */
const ICONS: { readonly [name: string]: LucideIcon } = {
  bot: Bot,
  box: Box,
  'calendar-clock': CalendarClock,
  'code-xml': CodeXml,
  database: Database,
  globe: Globe,
  'list-ordered': ListOrdered,
  mail: Mail,
  'message-square': MessageSquare,
  'octagon-x': OctagonX,
  'pencil-line': PencilLine,
  play: Play,
  sparkles: Sparkles,
  split: Split,
  timer: Timer,
  'user-check': UserCheck,
  webhook: Webhook,
};

/** A node type's icon, by its Lucide name; a box for unknown names. */
export function NodeIcon({ name = 'box', size = 16 }: { name: string | undefined; size?: number }) {
  const Icon = own(ICONS, name);
  if (Icon !== undefined) return <Icon size={size} aria-hidden />;
  return (
    <Suspense fallback={<UnknownIcon size={size} />}>
      <RareIcon name={name} size={size} />
    </Suspense>
  );
}

function UnknownIcon({ size }: { size: number }) {
  return <Box size={size} aria-hidden />;
}
