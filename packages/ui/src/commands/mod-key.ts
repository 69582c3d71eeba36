const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of the key that commands are pressed with. */
export const MOD = IS_MAC ? '⌘' : 'Ctrl';

/** Whether that key is pressed, and no other one; on a Mac, Ctrl+K deletes the rest of a line. */
export function isModKey({ ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return (IS_MAC ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !altKey && !shiftKey;
}
