import { expect, test, vi } from 'vitest';

// Only the page listens to the focus.
vi.stubGlobal('document', { addEventListener: () => {} });
const { choosePlace } = await import('./toast-place.ts');
vi.unstubAllGlobals();

const VIEW = { width: 1280, height: 800 };
const ONE = () => 88;
const isLow = ({ top }: { readonly top: number }) => top > 400;
const isRight = ({ right }: { readonly right: number }) => right > 1200;

test('a notification comes at the bottom right if it covers nothing there', () => {
  expect(choosePlace(VIEW, null, () => 0, ONE)).toBe('bottom-right');
});

test('it goes where it covers least', () => {
  expect(choosePlace(VIEW, null, (box) => (isRight(box) ? 3 : 0), ONE)).toBe('bottom-left');
  expect(choosePlace(VIEW, null, (box) => (isLow(box) ? 2 : 1), ONE)).toBe('top-center');
});

test('it never covers what has the focus, whatever else it covers', () => {
  const field = { left: 900, top: 720, right: 1260, bottom: 760 };
  expect(choosePlace(VIEW, field, (box) => (isRight(box) && isLow(box) ? 0 : 5), ONE)).toBe('bottom-left');
});

test('on a phone it is as wide as the page, so only above and below differ', () => {
  const field = { left: 16, top: 760, right: 374, bottom: 800 };
  expect(choosePlace({ width: 390, height: 844 }, field, () => 0, ONE)).toBe('top-center');
});

test('it is measured with those that it would come to', () => {
  const field = { left: 900, top: 600, right: 1260, bottom: 640 };
  const twoAtTheRight = (place: string) => (place === 'bottom-right' ? 3 * 88 : 88);
  expect(choosePlace(VIEW, field, () => 0, ONE)).toBe('bottom-right');
  expect(choosePlace(VIEW, field, () => 0, twoAtTheRight)).toBe('bottom-left');
});

test('it covers none that is shown elsewhere: in a window of this width, the middle overlaps the corners', () => {
  const middle = [{ place: 'top-center', box: { left: 420, top: 16, right: 860, bottom: 104 } }] as const;
  const usable = (box: { readonly top: number; readonly right: number }) =>
    isLow(box) ? 5 : isRight(box) ? 0 : 1;
  expect(choosePlace(VIEW, null, usable, ONE)).toBe('top-right');
  expect(choosePlace(VIEW, null, usable, ONE, middle)).toBe('top-center');
});
