import canvas from './ja/canvas.json';
import editor from './ja/editor.json';

/** The Japanese texts of the editor, without those of forms. */
export const texts = { canvas, editor };
