import debugging from './ja/debugging.json';
import forms from './ja/forms.json';
import pasting from './ja/pasting.json';
import polling from './ja/polling.json';

/** The Japanese texts of the panels beside the canvas. */
export const texts = { debugging, forms, pasting, polling };
