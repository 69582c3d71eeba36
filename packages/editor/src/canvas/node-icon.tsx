import {
  Bot,
  Box,
  CalendarClock,
  CircleStop,
  CodeXml,
  Database,
  Globe,
  ListFilter,
  ListOrdered,
  type LucideIcon,
  Mail,
  Merge,
  MessageSquare,
  OctagonX,
  PencilLine,
  Play,
  Repeat,
  Route,
  Sparkles,
  Split,
  TableProperties,
  Timer,
  UserCheck,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { NodeType } from '../model/editor-state.ts';

/** Those of the catalogue; all of Lucide would be 1,600 icons for two dozen nodes. */
const ICONS: { readonly [name: string]: LucideIcon } = {
  bot: Bot,
  'calendar-clock': CalendarClock,
  'circle-stop': CircleStop,
  'code-xml': CodeXml,
  database: Database,
  globe: Globe,
  'list-filter': ListFilter,
  'list-ordered': ListOrdered,
  mail: Mail,
  merge: Merge,
  'message-square': MessageSquare,
  'octagon-x': OctagonX,
  'pencil-line': PencilLine,
  play: Play,
  repeat: Repeat,
  route: Route,
  sparkles: Sparkles,
  split: Split,
  'table-properties': TableProperties,
  timer: Timer,
  'user-check': UserCheck,
  webhook: Webhook,
  workflow: Workflow,
};

/** Groups with a colour of their own; the others have that of their kind. */
const TINTED_GROUPS: ReadonlySet<string> = new Set(['wait', 'ai']);

/** The class that colours the icon of a node's type. */
export function kindClass(type: Pick<NodeType, 'kind' | 'group'> | undefined): string {
  if (type === undefined) return 'flow-kind-unknown';
  return `flow-kind-${TINTED_GROUPS.has(type.group) ? type.group : type.kind}`;
}

/** The icon of a node's type, by its Lucide name; a box for a name that is not among the catalogue's. */
export function NodeIcon({ name, size = 16 }: { name: string | undefined; size?: number }) {
  const Icon = (name === undefined ? undefined : Object.hasOwn(ICONS, name) ? ICONS[name] : undefined) ?? Box;
  return <Icon size={size} aria-hidden />;
}
