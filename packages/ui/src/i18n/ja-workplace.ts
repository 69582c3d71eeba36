import workplace from './ja/workplace.json';

/** The Japanese texts of the page around the canvas. */
export const texts = { workplace };
