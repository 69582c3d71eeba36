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
  /** Tooltip, if different from the longer label. */
  hint?: string;
  hintPosition?: NonNullable<TooltipProps['position']>;
  /** Pixels. */
  iconSize?: number;
};

/** An icon button with its label as a tooltip. */
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
