import { Badge, type BadgeProps, Tooltip } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ComponentPropsWithoutRef } from 'react';

interface IconBadgeProps extends BadgeProps, Omit<ComponentPropsWithoutRef<'div'>, keyof BadgeProps> {
  icon: LucideIcon;
  /** Shown when it is pointed at. */
  hint?: string;
}

/** A badge with an icon, which is never squeezed by the text beside it. */
export function IconBadge({ icon: Icon, hint, ...badge }: IconBadgeProps) {
  const shown = (
    <Badge
      leftSection={<Icon size={11} aria-hidden />}
      {...badge}
      style={{ flexShrink: 0, ...badge.style }}
    />
  );
  if (hint === undefined) return shown;
  return (
    <Tooltip label={hint} multiline maw={280}>
      {shown}
    </Tooltip>
  );
}
