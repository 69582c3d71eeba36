import { Badge, type BadgeProps, Tooltip } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ComponentPropsWithoutRef } from 'react';

interface IconBadgeProps extends BadgeProps, Omit<ComponentPropsWithoutRef<'div'>, keyof BadgeProps> {
  icon: LucideIcon;
  /** Shown on hover. */
  hint?: string;
}

/** A badge with an icon that never shrinks when the text is long. */
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
