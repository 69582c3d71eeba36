import debugging from './ja/debugging.json';
import forms from './ja/forms.json';
import pasting from './ja/pasting.json';
import polling from './ja/polling.json';
import trying from './ja/trying.json';

/** The Japanese texts of the panels beside and below the canvas. */
export const texts = { debugging, forms, pasting, polling, trying };
