import { expect, test, vi } from 'vitest';

// Only the page listens to the focus.
vi.stubGlobal('document', { addEventListener: () => {} });
const { choosePlace } = await import('./toast-place.ts');
vi.unstubAllGlobals();

const VIEW = { width: 1280, height: 800 };
const isLow = ({ top }: { readonly top: number }) => top > 400;
const isRight = ({ right }: { readonly right: number }) => right > 1200;

test('a notification comes at the bottom right if it covers nothing there', () => {
  expect(choosePlace(VIEW, null, () => 0)).toBe('bottom-right');
});

test('it goes where it covers least', () => {
  expect(choosePlace(VIEW, null, (box) => (isRight(box) ? 3 : 0))).toBe('bottom-left');
  expect(choosePlace(VIEW, null, (box) => (isLow(box) ? 2 : 1))).toBe('top-center');
});

test('it never covers what has the focus, whatever else it covers', () => {
  const field = { left: 900, top: 720, right: 1260, bottom: 760 };
  expect(choosePlace(VIEW, field, (box) => (isRight(box) && isLow(box) ? 0 : 5))).toBe('bottom-left');
});

test('on a phone it is as wide as the page, so only above and below differ', () => {
  const field = { left: 16, top: 760, right: 374, bottom: 800 };
  expect(choosePlace({ width: 390, height: 844 }, field, () => 0)).toBe('top-center');
});
