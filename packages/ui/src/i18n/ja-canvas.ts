import canvas from './ja/canvas.json';
import debugging from './ja/debugging.json';
import forms from './ja/forms.json';
import pasting from './ja/pasting.json';
import polling from './ja/polling.json';

/** The Japanese texts of what the editor shows on its canvas and in its forms. */
export const texts = { canvas, debugging, forms, pasting, polling };
