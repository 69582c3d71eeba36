import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';

const WIDE = 216;
const NARROW = 56;
/** The editor wants the room: there the navigation begins as icons only. */
const EDITOR = /^\/o\/\d+\/workflows\/[^/]+$/;

/** How wide the navigation is, remembered for the editor and for everything else. */
export interface NavigationWidth {
  /** In pixels. */
  readonly width: number;
  /** Icons without words. */
  readonly isNarrow: boolean;
  readonly toggle: () => void;
}

/** Reads and sets the width of the navigation here. Where it covers a small window it has its words always. */
export function useNavigationWidth(): NavigationWidth {
  const isOverlay = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const beside = useRemembered('millrace.navigation', false);
  const besideEditor = useRemembered('millrace.navigation.editor', true);
  const [isChosen, choose] = EDITOR.test(useLocation().pathname) ? besideEditor : beside;
  const isNarrow = isChosen && !isOverlay;
  return { width: isNarrow ? NARROW : WIDE, isNarrow, toggle: () => choose(!isChosen) };
}

function useRemembered(key: string, defaultValue: boolean) {
  const [value, set] = useLocalStorage({ key, defaultValue, getInitialValueInEffect: false });
  // Whatever else stands there under this name counts as nothing.
  return [value === true, set] as const;
}
