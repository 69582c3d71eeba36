import {
  ActionIcon,
  type ActionIconProps,
  type PolymorphicComponentProps,
  Tooltip,
  type TooltipProps,
} from '@mantine/core';
import type { LucideIcon } from 'lucide-react';

const ICON_SIZES: { readonly [size: string]: number | undefined } = { xs: 12, sm: 14 };

type IconButtonProps = PolymorphicComponentProps<'button', ActionIconProps> & {
  icon: LucideIcon;
  label: string;
  /** What shows when it is pointed at, where its label is longer. */
  hint?: string;
  hintPosition?: NonNullable<TooltipProps['position']>;
  /** In pixels. */
  iconSize?: number;
};

/** A button that is an icon; its label shows when it is pointed at. */
export function IconButton(props: IconButtonProps) {
  const { icon: Icon, label, hint = label, hintPosition = 'top', iconSize, ...button } = props;
  return (
    <Tooltip label={hint} position={hintPosition}>
      <ActionIcon aria-label={label} {...button}>
        <Icon size={iconSize ?? ICON_SIZES[String(button.size)] ?? 16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
